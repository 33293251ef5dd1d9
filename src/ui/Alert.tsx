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
  /** Told once it was dismissed; implies `dismissible`. */
  onDismiss?: () => void
  id?: string
  /** Not read out by itself: it ticks, or the page's live region says it. */
  quiet?: boolean
  /** It answers what was just sent off: the keyboard goes on from here, and a new page begins with it. */
  takesFocus?: boolean
}

/** The browser itself sees to what the server rendered; React leaves the attribute out of what an island adds. */
const takeFocus = (alert: HTMLElement | null) => {
  if (alert && !alert.autofocus) alert.focus()
}
const FOCUS = { tabIndex: -1, autoFocus: true, ref: takeFocus }

/**
 * A message. A dismissible one is an open `<dialog>` (not modal), whose `<form method="dialog">` closes it in every
 * browser without a script. A form cannot stand inside a form: place a dismissible alert beside forms, not in them,
 * and give a new message a new `key`, else a closed one stays closed.
 */
export function Alert({ kind, children, dismissible, onDismiss, id, quiet = false, takesFocus = false }: AlertProps) {
  const frame = { id, className: `alert alert-${kind}`, ...(takesFocus && FOCUS) }
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
