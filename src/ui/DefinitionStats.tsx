import type { ReactNode } from 'react'

export type Stat = { label: string; value: ReactNode; hint?: ReactNode }

/** Key figures side by side. */
export function DefinitionStats({ stats }: { stats: Stat[] }) {
  return (
    <dl className="stats">
      {stats.map(({ label, value, hint }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          {hint ? <dd className="hint">{hint}</dd> : null}
        </div>
      ))}
    </dl>
  )
}
