import type { ReactNode } from 'react'

/** A section of the landing page, with its name in the margin like an instrument's label. */
export function Section({
  id,
  label,
  title,
  children,
}: {
  id: string
  label: string
  title: string
  children: ReactNode
}) {
  return (
    <section className="section" id={id} aria-labelledby={`${id}-title`}>
      <p className="label">{label}</p>
      <div>
        <h2 id={`${id}-title`}>{title}</h2>
        {children}
      </div>
    </section>
  )
}
