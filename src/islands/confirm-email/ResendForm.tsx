import { emailForm } from '../../domain/user.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { resendOutcome } from '../account-replies.ts'
import { request } from '../request.ts'
import { useForm } from '../useForm.ts'
import { SignInNext, useSignInNext } from './SignInNext.tsx'

const SECONDS = 5

type ResendFormProps = {
  csrfToken: string
  email: string
  onSent: () => void
  /** On the sign-in screen, its field needs an ID and label of its own, and there's no page to go to afterward. */
  atSignIn?: boolean
}

export function ResendForm({ csrfToken, email, onSent, atSignIn = false }: ResendFormProps) {
  const { form, field, busy, said } = useForm({
    rules: emailForm,
    focusField: true,
    async send(user) {
      const { sent, message } = resendOutcome(await request<object>('POST', '/users/confirmation', { user }))
      if (sent) onSent()
      return { kind: sent ? 'success' : 'danger', message }
    },
  })
  const outcome = said.flash?.field ? null : said.flash
  const sent = outcome?.kind === 'success'
  const next = useSignInNext(SECONDS, sent && !atSignIn)
  const leaving = sent && !atSignIn && !next.staying
  const place = atSignIn ? { id: 'resend-email', label: 'Send a new link to' } : { label: 'Email' }

  return (
    <>
      {outcome ? (
        <Alert key={said.nth} kind={outcome.kind} takesFocus>
          {outcome.message} {leaving ? `Taking you to the sign-in page in ${SECONDS} seconds.` : null}
        </Alert>
      ) : null}
      {sent ? (
        atSignIn ? null : (
          <SignInNext {...next} />
        )
      ) : (
        <form {...form} className="stack" method="post" action="/users/confirmation">
          <HiddenFields csrfToken={csrfToken} />
          <Field {...field('email')} {...place} type="email" autoComplete="email" defaultValue={email} required />
          <Button type="submit" {...(!atSignIn && { look: 'primary' })} disabled={busy}>
            Resend confirmation email
          </Button>
        </form>
      )}
    </>
  )
}
