import type { ReactNode } from 'react'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

type ActFormProps = {
  /** Unique on its page. */
  id: string
  action: string
  csrfToken: string
  title: string
  /** What happens then. */
  text: string
  button: string
  /** Where the reason goes, if not only into the audit log. */
  reasonHint?: string
  children?: ReactNode
}

/** One act: folded until somebody wants it, and nothing happens without a reason and a tick. */
export function ActForm({ id, action, csrfToken, title, text, button, reasonHint, children }: ActFormProps) {
  return (
    <details className="fold">
      <summary>{title}</summary>
      <form className="stack" method="post" action={action} noValidate>
        <HiddenFields csrfToken={csrfToken} />
        <p>{text}</p>
        {children}
        <Field
          id={`${id}-reason`}
          name="reason"
          label="Reason"
          hint={reasonHint ?? 'Only the audit log shows it.'}
          maxLength={LONGEST_REASON}
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
