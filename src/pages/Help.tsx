import { HELP_TOPICS, type HelpField } from '../domain/contact.ts'
import type { User } from '../domain/wire/accounts.ts'
import { Select } from '../ui/Field.tsx'
import { MessagePage, type MessagePageProps, NameAndEmail } from './contact/MessagePage.tsx'

/** For customers and visitors who are stuck. If they are signed in, we know who is writing. */
export function Help({ user, ...form }: MessagePageProps<HelpField> & { user: User | null }) {
  return (
    <MessagePage
      title="Help"
      lead={
        user ? (
          <>
            We'll reply to <bdi>{user.email}</bdi>. Never send us your password.
          </>
        ) : (
          <>
            We'll reply by email. <a href="/forgot_password">Forgot your password?</a> Want to buy or ask about a plan?{' '}
            <a href="/contact_sales">Contact sales</a>
          </>
        )
      }
      action="/api/v1/help"
      form={form}
    >
      {(field) => (
        <>
          <Select label="Topic" options={HELP_TOPICS} placeholder="Choose one…" {...field('topic')} />
          {user ? null : <NameAndEmail field={field} />}
        </>
      )}
    </MessagePage>
  )
}
