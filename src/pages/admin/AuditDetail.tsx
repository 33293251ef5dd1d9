import type { ReactNode } from 'react'
import { toIso } from '../../domain/instant.ts'
import { type PlanType, planName } from '../../domain/money/plan.ts'
import { formatUptime } from '../../domain/server.ts'
import { Time } from '../../ui/Time.tsx'

const mono = (value: unknown) => <span className="mono">{String(value)}</span>
const uptime = (value: unknown) => formatUptime(Number(value))
const instant = (value: unknown) => <Time at={toIso(Number(value))} />

/** The details that the log keeps with an act, in plain words. */
const FACTS: Record<string, [label: string, show: (value: unknown) => ReactNode]> = {
  type: ['Plan', (value) => planName(value as PlanType) ?? mono(value)],
  hours: ['Hours a month', String],
  was: ['Billed time before', uptime],
  seconds: ['Billed time now', uptime],
  correction: ['Correction', mono],
  run: ['Run', mono],
  instance: ['Instance', mono],
  billedFrom: ['Billed from', instant],
  until: ['Billed until', instant],
  meteredUntil: ['Billed until', instant],
  instanceType: ['Instance type', mono],
  availabilityZone: ['Zone', mono],
  launchTemplate: ['Launch template', mono],
  gpus: ['GPUs', String],
  count: ['Places', String],
  servers: ['Servers', String],
  kept: ['Kept warm', String],
  timeZone: ['Time zone', String],
  name: ['Name', String],
  description: ['Description', String],
  image: ['Image', mono],
  plans: ['Plans', (value) => (value as PlanType[]).map(planName).join(', ')],
  position: ['Position', String],
  from: ['From', instant],
  to: ['Until', instant],
  people: ['People', String],
  added: ['People added', String],
  removed: ['People removed', String],
  code: ['With a code', (value) => (value ? 'yes' : 'no')],
  unused: ['Unused servers', String],
}

/** Why an operator did it, and what exactly. @param detail a JSON object */
export function AuditDetail({ reason, detail }: { reason: string; detail: string | null }) {
  const given = Object.entries(JSON.parse(detail ?? '{}') as Record<string, unknown>)
  if (!reason && !given.length) return null
  return (
    <dl className="detail">
      {reason ? (
        <div>
          <dt>Why</dt>
          <dd>
            <bdi>{reason}</bdi>
          </dd>
        </div>
      ) : null}
      {given.map(([key, value]) => {
        const [label, show] = FACTS[key] ?? [key, mono]
        return (
          <div key={key}>
            <dt>{label}</dt>
            <dd>{value === null || value === '' ? '—' : show(value)}</dd>
          </div>
        )
      })}
    </dl>
  )
}
