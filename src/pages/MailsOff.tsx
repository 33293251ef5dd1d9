import { MAIL_KINDS, type MailKind } from '../domain/notice.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FormPage } from './account/FormPage.tsx'

/** `done`: they just turned them off. `kind` null: the link is wrong. */
type MailsOffProps = { kind: MailKind | null; action: string; fault: string | null; done: boolean }

/** One button, for people who come from an email and may not be signed in. */
export function MailsOff({ kind, action, fault, done }: MailsOffProps) {
  return (
    <FormPage title="Turn off emails" foot={<a href="/mails">Choose all your emails</a>}>
      {fault ? <Alert kind="danger">{fault}</Alert> : null}
      {kind ? <p>These emails: {MAIL_KINDS[kind].toLowerCase()}.</p> : null}
      {kind && done ? (
        <Alert kind="success">We no longer send you these. You still find it all under Notices.</Alert>
      ) : null}
      {kind && !done ? (
        // The key in its address is proof enough: it needs neither a sign-in nor the page's token.
        <form method="post" action={action}>
          <input type="hidden" name="by" value="button" />
          <Button type="submit" look="primary">
            Turn them off
          </Button>
        </form>
      ) : null}
    </FormPage>
  )
}
