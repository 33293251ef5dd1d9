import { type FormEvent, useCallback, useEffect, useState } from 'react'
import { checkForm, type FormFault } from '../../domain/form.ts'
import { emailForm } from '../../domain/user.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { resendOutcome } from '../account-replies.ts'
import { request } from '../request.ts'
import { useCountdown } from '../useCountdown.ts'
import { useFields } from '../useFields.ts'

const SECONDS = 5

export function ResendForm({ csrfToken, email, onSent }: { csrfToken: string; email: string; onSent: () => void }) {
  const { form, read } = useFields()
  const [sending, setSending] = useState(false)
  const [fault, setFault] = useState<FormFault | null>(null)
  const [outcome, setOutcome] = useState<{ sent: boolean; message: string; key: number } | null>(null)
  const [staying, setStaying] = useState(false)
  const leave = useCallback(() => location.assign('/sign_in'), [])
  const sent = outcome?.sent ?? false
  useCountdown(SECONDS, sent && !staying, leave)
  // The one field says itself what is wrong with it.
  useEffect(() => {
    if (fault) form.current?.querySelector<HTMLInputElement>('#email')?.focus()
  }, [fault])

  async function submit(event: FormEvent) {
    event.preventDefault()
    const user = { email: read()['user[email]'] ?? '' }
    const checked = checkForm(emailForm, user)
    setFault(checked.ok ? null : checked.faults[0])
    if (!checked.ok) return
    setSending(true)
    const next = resendOutcome(await request<object>('POST', '/users/confirmation', { user }))
    setOutcome({ ...next, key: (outcome?.key ?? 0) + 1 })
    if (next.sent) onSent()
    setSending(false)
  }

  return (
    <>
      {outcome ? (
        <Alert key={outcome.key} kind={sent ? 'success' : 'danger'} takesFocus>
          {outcome.message} {sent && !staying ? `You will be taken to the sign-in screen in ${SECONDS} seconds.` : null}
        </Alert>
      ) : null}
      {sent ? (
        <div className="row">
          <ButtonLink href="/sign_in" look="primary">
            {staying ? 'Sign In' : 'Go now'}
          </ButtonLink>
          {staying ? null : <Button onClick={() => setStaying(true)}>Stay here</Button>}
        </div>
      ) : (
        <form ref={form} className="stack" method="post" action="/users/confirmation" noValidate onSubmit={submit}>
          <HiddenFields csrfToken={csrfToken} />
          <Field
            id="email"
            name="user[email]"
            label="Email"
            type="email"
            autoComplete="email"
            defaultValue={email}
            error={fault?.message}
          />
          <Button type="submit" look="primary" disabled={sending}>
            Resend confirmation email
          </Button>
        </form>
      )}
    </>
  )
}
