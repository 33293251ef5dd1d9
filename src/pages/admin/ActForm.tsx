import type { ReactNode } from 'react'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import type { Acting } from './AdminPage.tsx'

type ActFormProps = {
  /** Unique on its page. */
  id: string
  action: string
  acting: Acting
  title: string
  /** What it does. */
  text: string
  button: string
  /** Who sees the reason, if not only the audit log. */
  reasonHint?: string
  /** @param typed the value of a field in a refused form */
  children?: (typed: (name: string) => string | undefined) => ReactNode
}

/** One act: folded at first, and it needs a reason and a tick. After a refusal, it is open. */
export function ActForm({ id, action, acting, title, text, button, reasonHint, children }: ActFormProps) {
  const { csrfToken, actId, flash } = acting
  const refused = flash?.kind === 'danger' && flash.values?.act_id?.endsWith(`.${id}`) ? flash : null
  const typed = (name: string) => refused?.values?.[name]
  const error = (name: string) => (refused?.field === name ? refused.message : null)
  return (
    <details className="fold" open={refused !== null}>
      <summary>{title}</summary>
      <form className="stack" method="post" action={action} noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ act_id: `${actId}.${id}` }} />
        <p>{text}</p>
        {children?.(typed)}
        <Field
          id={`${id}-reason`}
          name="reason"
          label="Reason"
          hint={reasonHint ?? 'Only the audit log shows it.'}
          maxLength={LONGEST_REASON}
          defaultValue={typed('reason')}
          error={error('reason')}
          autoComplete="off"
          required
        />
        <Checkbox id={`${id}-confirmed`} name="confirmed" value="1" label="Yes, I want this" required />
        <Button type="submit" look="danger">
          {button}
        </Button>
      </form>
    </details>
  )
}
