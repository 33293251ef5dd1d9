import type { MouseEvent, ReactNode } from 'react'
import { type InstanceView, instanceViewPath } from '../../domain/instance-view.ts'

export type OnView = (view: InstanceView) => void

/** Leads to another view of the table: as a page without scripts, and without loading one with them. */
export function ViewLink({
  to,
  onView,
  current,
  rel,
  children,
}: {
  to: InstanceView
  onView: OnView
  current?: boolean
  rel?: 'prev' | 'next'
  children: ReactNode
}) {
  return (
    <a
      href={instanceViewPath(to)}
      rel={rel}
      aria-current={current ? 'true' : undefined}
      onClick={(event) => isPlainClick(event) && onView(to)}
    >
      {children}
    </a>
  )
}

/** A click that opens no new tab: we handle it, and the browser doesn't. */
function isPlainClick(event: MouseEvent): boolean {
  const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && event.button === 0
  if (plain) event.preventDefault()
  return plain
}
