import type { ReactNode } from 'react'

type CardProps = { title?: string; id?: string; aside?: ReactNode; className?: string; children: ReactNode }

/** With a title it is a named section; `aside` sits to the right of the title. */
export function Card({ title, id, aside, className, children }: CardProps) {
  const all = className ? `card ${className}` : 'card'
  if (!title) return <div className={all}>{children}</div>
  const heading = `${id ?? title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-title`
  return (
    <section className={all} id={id} aria-labelledby={heading}>
      <div className="card-head">
        <h2 id={heading}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
