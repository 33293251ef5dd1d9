import { CONTACT_MESSAGE_LIMIT, CONTACT_SOURCES, type ContactField } from '../domain/contact.ts'
import { characters } from '../domain/person.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Field, Select, TextArea } from '../ui/Field.tsx'
import { Contours } from './landing/Contours.tsx'

export type ContactSalesProps = {
  csrfToken: string | null
  /** What the user typed, when the form comes back with errors. */
  values?: Partial<Record<ContactField, string>>
  errors?: Partial<Record<ContactField, string>>
  /** A sentence about the whole form: the server's errors joined, or that sending failed. */
  failure?: string | null
  /** The sentence to show once it is sent. */
  success?: string | null
}

export function ContactSales({ csrfToken, values = {}, errors = {}, failure, success }: ContactSalesProps) {
  const message = values.message ?? ''
  const field = (name: ContactField) => ({
    name,
    error: errors[name],
    defaultValue: values[name] ?? '',
    required: true,
  })
  return (
    <div className="page narrow stack">
      <h1>Contact sales</h1>
      <p className="muted">Tell us what you want to simulate. We'll reply by email.</p>
      {failure ? (
        <Alert key={failure} kind="danger" dismissible takesFocus>
          {failure}
        </Alert>
      ) : null}
      {success ? (
        <Alert key={success} kind="success" dismissible takesFocus>
          {success}
        </Alert>
      ) : null}
      <form className="card stack" method="post" action="/api/v1/contact_sales" noValidate>
        {csrfToken ? <input type="hidden" name="authenticity_token" value={csrfToken} /> : null}
        <div hidden>
          <label htmlFor="website">Leave this blank</label>
          <input id="website" name="website" autoComplete="off" tabIndex={-1} />
        </div>
        <Field label="Name" autoComplete="name" dir="auto" {...field('name')} />
        <Field label="Email" type="email" autoComplete="email" {...field('email')} />
        <Select
          label="How did you hear about us?"
          options={CONTACT_SOURCES}
          placeholder="Choose one…"
          {...field('source')}
        />
        <TextArea
          label="Message"
          rows={6}
          dir="auto"
          hint={
            <span
              id="message-count"
              className="mono"
              data-enhance="count"
              data-for="message"
              data-limit={CONTACT_MESSAGE_LIMIT}
            >
              {`${characters(message)}/${CONTACT_MESSAGE_LIMIT}`}
            </span>
          }
          {...field('message')}
        />
        <Button type="submit" look="primary">
          Send
        </Button>
      </form>
      <Contours />
    </div>
  )
}
