import type { ReactNode } from 'react'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { TimesText } from '../../ui/TimesText.tsx'
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
  /** Who sees the reason, if it isn't only in the audit log. */
  reasonHint?: string
  /**
   * @param typed the value of a field in a refused form
   * @param error what is wrong with it
   */
  children?: (typed: (name: string) => string | undefined, error: (name: string) => string | null) => ReactNode
}

/** The refusal of this act's form; null if it wasn't refused. */
function refusalOf({ flash }: Acting, id: string) {
  return flash?.kind === 'danger' && flash.values?.act_id?.endsWith(`.${id}`) ? flash : null
}

/** One act, folded at first. It needs a reason and a tick. After a refusal, it's open. */
export function ActForm({ id, action, acting, title, text, button, reasonHint, children }: ActFormProps) {
  const { csrfToken, actId } = acting
  const refused = refusalOf(acting, id)
  const typed = (name: string) => refused?.values?.[name]
  const error = (name: string) => (refused?.field === name ? refused.message : null)
  return (
    <details className="fold" open={refused !== null}>
      <summary>{title}</summary>
      <form id={`${id}-form`} className="stack" method="post" action={action} noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ act_id: `${actId}.${id}` }} />
        <p>
          <TimesText>{text}</TimesText>
        </p>
        {children?.(typed, error)}
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
        <Checkbox
          id={`${id}-confirmed`}
          name="confirmed"
          value="1"
          label="Yes, I want this"
          error={error('confirmed')}
          required
        />
        <Button type="submit" look="danger">
          {button}
        </Button>
      </form>
    </details>
  )
}

type ActChoiceProps = { id: string; acting: Acting; name: string; label: string }

/** A checkbox of that act's form that is elsewhere on the page, as in a table. After a refusal, it's as it was. */
export function ActChoice({ id, acting, name, label }: ActChoiceProps) {
  const wasTicked = refusalOf(acting, id)?.values?.[name] !== undefined
  return <input type="checkbox" name={name} form={`${id}-form`} aria-label={label} defaultChecked={wasTicked} />
}
