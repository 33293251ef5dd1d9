import type { ReactNode } from 'react'
import { Alert } from './Alert.tsx'

/** Nothing here yet: a sentence, and what to do about it. */
export function EmptyState({ children, action }: { children: string; action?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {action}
    </div>
  )
}

/** Something failed to load: a sentence, and a way to try again. */
export function ErrorState({ children, action }: { children: string; action?: ReactNode }) {
  return (
    <Alert kind="danger">
      <div className="row">
        <span>{children}</span>
        {action}
      </div>
    </Alert>
  )
}

export function Spinner({ label }: { label: string }) {
  return (
    <span className="row">
      <span className="spinner" aria-hidden="true" />
      <span>{label}</span>
    </span>
  )
}
