import type { ReactNode } from 'react'
import { Card } from '../../ui/Card.tsx'

type PartProps = {
  title: string
  /** What to say instead of the content: there is nothing to list. */
  none: string | null
  children: ReactNode
}

/** A part of a console page. With nothing to list, it's one line. */
export function Part({ title, none, children }: PartProps) {
  return (
    <Card title={title} aside={none ? <span className="hint">{none}</span> : null}>
      {none ? null : children}
    </Card>
  )
}
