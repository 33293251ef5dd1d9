import type { MouseEvent, ReactNode } from 'react'
import { type InstanceView, instanceViewPath } from '../../domain/instance-view.ts'

export type OnView = (view: InstanceView) => void

/** Links to another view of the table. With scripts, it opens without loading a page. */
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

/** A click that opens no new tab. We handle it instead of the browser. */
function isPlainClick(event: MouseEvent): boolean {
  const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && event.button === 0
  if (plain) event.preventDefault()
  return plain
}
