import type { ReactNode } from 'react'
import { Contours } from '../landing/Contours.tsx'

/** One form in the middle of the screen; `foot` links to other pages. */
export function FormPage({ title, children, foot }: { title: string; children: ReactNode; foot?: ReactNode }) {
  return (
    <div className="page narrow stack">
      <h1>{title}</h1>
      <div className="card stack">{children}</div>
      {foot ? <p className="hint">{foot}</p> : null}
      <Contours />
    </div>
  )
}
