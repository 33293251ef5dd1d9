import { MAIL_KINDS, type MailKind } from '../domain/notice.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FormPage } from './account/FormPage.tsx'

/** `done`: they just turned them off. `kind` null: the link is wrong. */
type MailsOffProps = { kind: MailKind | null; action: string; fault: string | null; done: boolean }

/** "before a server stops", in a sentence. */
const when = (kind: MailKind) => MAIL_KINDS[kind].charAt(0).toLowerCase() + MAIL_KINDS[kind].slice(1)

/** One button, for people who come from an email and may not be signed in. */
export function MailsOff({ kind, action, fault, done }: MailsOffProps) {
  return (
    <FormPage title={done ? 'Emails turned off' : 'Turn off emails'} foot={<a href="/mails">Choose all your emails</a>}>
      {fault ? <Alert kind="danger">{fault}</Alert> : null}
      {kind && done ? (
        <Alert kind="success">
          {`We no longer email you ${when(kind)}.`} You can still find it under <a href="/notices">Notices</a>.
        </Alert>
      ) : null}
      {kind && !done ? (
        <>
          <p>We email you {when(kind)}. Without these emails, you still find it under Notices.</p>
          {/* The key in its address is proof enough: it needs neither a sign-in nor the page's token. */}
          <form method="post" action={action}>
            <input type="hidden" name="by" value="button" />
            <Button type="submit" look="primary">
              Turn them off
            </Button>
          </form>
        </>
      ) : null}
    </FormPage>
  )
}
