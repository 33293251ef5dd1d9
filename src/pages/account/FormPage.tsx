import type { ReactNode } from 'react'

/** One form in the middle of the screen; `foot` leads elsewhere. */
export function FormPage({ title, children, foot }: { title: string; children: ReactNode; foot?: ReactNode }) {
  return (
    <div className="page narrow stack">
      <h1>{title}</h1>
      {children}
      {foot ? <p className="hint">{foot}</p> : null}
    </div>
  )
}
