import { useCallback, useState } from 'react'
import { emailForm } from '../../domain/user.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { resendOutcome } from '../account-replies.ts'
import { request } from '../request.ts'
import { useCountdown } from '../useCountdown.ts'
import { useForm } from '../useForm.ts'

const SECONDS = 5

export function ResendForm({ csrfToken, email, onSent }: { csrfToken: string; email: string; onSent: () => void }) {
  const { form, field, busy, said } = useForm({
    rules: emailForm,
    focusField: true,
    async send(user) {
      const { sent, message } = resendOutcome(await request<object>('POST', '/users/confirmation', { user }))
      if (sent) onSent()
      return { kind: sent ? 'success' : 'danger', message }
    },
  })
  const [staying, setStaying] = useState(false)
  const leave = useCallback(() => location.assign('/sign_in'), [])
  const outcome = said.flash?.field ? null : said.flash
  const sent = outcome?.kind === 'success'
  useCountdown(SECONDS, sent && !staying, leave)

  return (
    <>
      {outcome ? (
        <Alert key={said.nth} kind={outcome.kind} takesFocus>
          {outcome.message} {sent && !staying ? `Taking you to the sign-in page in ${SECONDS} seconds.` : null}
        </Alert>
      ) : null}
      {sent ? (
        <div className="row">
          <ButtonLink href="/sign_in" look="primary">
            {staying ? 'Sign In' : 'Sign in now'}
          </ButtonLink>
          {staying ? null : <Button onClick={() => setStaying(true)}>Stay here</Button>}
        </div>
      ) : (
        <form {...form} className="stack" method="post" action="/users/confirmation">
          <HiddenFields csrfToken={csrfToken} />
          <Field {...field('email')} label="Email" type="email" autoComplete="email" defaultValue={email} />
          <Button type="submit" look="primary" disabled={busy}>
            Resend confirmation email
          </Button>
        </form>
      )}
    </>
  )
}
