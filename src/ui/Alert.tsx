import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon.tsx'

export type AlertKind = 'danger' | 'success' | 'info' | 'warning'

const ICONS: Record<AlertKind, IconName> = {
  danger: 'circle-alert',
  success: 'circle-check',
  info: 'info',
  warning: 'triangle-alert',
}

type AlertProps = {
  kind: AlertKind
  children: ReactNode
  dismissible?: boolean
  /** Called on dismissal; implies `dismissible`. */
  onDismiss?: () => void
  /** Screen readers don't announce it, because it ticks, or because the page's live region says it. */
  quiet?: boolean
  /** It answers a form that the user just sent, so it takes the keyboard focus, even on a new page. */
  takesFocus?: boolean
}

/** The browser focuses what the server rendered; React leaves out the attribute when an island adds an alert. */
const takeFocus = (alert: HTMLElement | null) => {
  if (alert && !alert.autofocus) alert.focus()
}
const FOCUS = { tabIndex: -1, autoFocus: true, ref: takeFocus }

/**
 * A message. A dismissible one is an open `<dialog>` (not modal), whose `<form method="dialog">` closes it in every
 * browser without a script. Forms cannot nest, so place a dismissible alert beside forms, not in them. Give each new
 * message a new `key`, or a closed alert stays closed.
 */
export function Alert({ kind, children, dismissible, onDismiss, quiet = false, takesFocus = false }: AlertProps) {
  const frame = { className: `alert alert-${kind}`, ...(takesFocus && FOCUS) }
  const body = (
    <>
      <Icon name={ICONS[kind]} size={18} />
      <div role={quiet ? undefined : kind === 'danger' ? 'alert' : 'status'}>{children}</div>
    </>
  )
  if (!dismissible && !onDismiss) {
    return <div {...frame}>{body}</div>
  }
  return (
    <dialog open {...frame} aria-label="Notice" onClose={onDismiss}>
      {body}
      <form method="dialog">
        <button type="submit" className="btn-close" aria-label="Dismiss">
          <Icon name="x" />
        </button>
      </form>
    </dialog>
  )
}
