import type { ReactNode } from 'react'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { Alert } from '../../ui/Alert.tsx'
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
  /** A button that asks a question first, and changes nothing. The form shows the answer. */
  ask?: { name: string; value: string; label: string }
  /** Who sees the reason, if it isn't only in the audit log. */
  reasonHint?: string
  /**
   * @param typed the value of a field in a form that came back
   * @param error what is wrong with it
   */
  children?: (typed: (name: string) => string | undefined, error: (name: string) => string | null) => ReactNode
}

/** What we said to this act's form if it came back: why we refused it, or the answer to its question. */
function replyTo({ flash }: Acting, id: string) {
  return flash?.values?.act_id?.endsWith(`.${id}`) ? flash : null
}

/** One act, folded at first. It needs a reason and a tick. If it comes back, it's open. */
export function ActForm({ id, action, acting, title, text, button, ask, reasonHint, children }: ActFormProps) {
  const { csrfToken, actId } = acting
  const reply = replyTo(acting, id)
  const typed = (name: string) => reply?.values?.[name]
  const error = (name: string) => (reply?.field === name ? reply.message : null)
  return (
    <details className="fold" open={reply !== null}>
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
        {reply?.kind === 'info' ? (
          <Alert kind="info" takesFocus>
            {reply.message}
          </Alert>
        ) : null}
        <div className="row">
          {ask ? (
            <Button type="submit" name={ask.name} value={ask.value}>
              {ask.label}
            </Button>
          ) : null}
          <Button type="submit" look="danger">
            {button}
          </Button>
        </div>
      </form>
    </details>
  )
}

type ActChoiceProps = { id: string; acting: Acting; name: string; label: string }

/** A checkbox of that act's form that is elsewhere on the page, as in a table. If the form comes back, it's as it was. */
export function ActChoice({ id, acting, name, label }: ActChoiceProps) {
  const wasTicked = replyTo(acting, id)?.values?.[name] !== undefined
  return <input type="checkbox" name={name} form={`${id}-form`} aria-label={label} defaultChecked={wasTicked} />
}
