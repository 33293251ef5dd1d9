import { CONTACT_SOURCES, type ContactField } from '../domain/contact.ts'
import { Select } from '../ui/Field.tsx'
import { MessagePage, type MessagePageProps, NameAndEmail } from './contact/MessagePage.tsx'

export function ContactSales(form: MessagePageProps<ContactField>) {
  return (
    <MessagePage
      title="Contact sales"
      lead="Tell us what you want to simulate. We'll reply by email."
      action="/api/v1/contact_sales"
      form={form}
    >
      {(field) => (
        <>
          <NameAndEmail field={field} />
          <Select
            label="How did you hear about us?"
            options={CONTACT_SOURCES}
            placeholder="Choose one…"
            {...field('source')}
          />
        </>
      )}
    </MessagePage>
  )
}
