import type { ReactNode } from 'react'
import { CONTACT_MESSAGE_LIMIT } from '../../domain/contact.ts'
import { characters } from '../../domain/person.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field, TextArea } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Contours } from '../landing/Contours.tsx'

export type MessagePageProps<F extends string> = {
  csrfToken: string | null
  /** What the user typed, when the form comes back with errors. */
  values?: Partial<Record<F, string>>
  errors?: Partial<Record<F, string>>
  /** A sentence about the whole form: the server's errors joined, or that sending failed. */
  failure?: string | null
  /** The sentence to show once it is sent. */
  success?: string | null
}

type FieldProps<F extends string> = (name: F) => {
  name: string
  error: string | undefined
  defaultValue: string
  required: true
}

/** A form that ends with a message to us. `children` gives its other fields. */
export function MessagePage<F extends string>({
  title,
  lead,
  action,
  form: { csrfToken, values = {}, errors = {}, failure, success },
  children,
}: {
  title: string
  lead: ReactNode
  action: string
  form: MessagePageProps<F | 'message'>
  children: (field: FieldProps<F>) => ReactNode
}) {
  const field = (name: F | 'message') => ({
    name,
    error: errors[name],
    defaultValue: values[name] ?? '',
    required: true as const,
  })
  return (
    <div className="page narrow stack">
      <h1>{title}</h1>
      <p className="muted">{lead}</p>
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
      <form className="card stack" method="post" action={action} noValidate>
        <HiddenFields csrfToken={csrfToken} />
        <div hidden>
          <label htmlFor="website">Leave this blank</label>
          <input id="website" name="website" autoComplete="off" tabIndex={-1} />
        </div>
        {children(field)}
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
              {`${characters(values.message ?? '')}/${CONTACT_MESSAGE_LIMIT}`}
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

export function NameAndEmail({ field }: { field: FieldProps<'name' | 'email'> }) {
  return (
    <>
      <Field label="Name" autoComplete="name" dir="auto" {...field('name')} />
      <Field label="Email" type="email" autoComplete="email" {...field('email')} />
    </>
  )
}
