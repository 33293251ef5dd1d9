import * as v from 'valibot'
import { rule } from './form.ts'
import { DAY_MS } from './instant.ts'
import { normalName } from './person.ts'
import { runNameRules } from './run-wishes.ts'

/** How far ahead an end may lie. */
export const LATEST_END_MS = 30 * DAY_MS

/**
 * What may change about a run: its end and its name. Without a field, that stays; null removes it.
 * @param now ms since 1970
 */
export const runChange = (now: number) =>
  v.pipe(
    v.object({ ends_at: v.nullish(v.string()), name: v.nullish(v.string()) }),
    rule(
      'ends_at',
      ({ ends_at: end }) => !end || parseInstant(end) !== null,
      'Give the end as a date and a time, such as 2026-11-24T18:00:00Z.',
    ),
    rule('ends_at', ({ ends_at: end }) => !end || (parseInstant(end) ?? 0) > now, 'The end must be in the future.'),
    rule(
      'ends_at',
      ({ ends_at: end }) => !end || (parseInstant(end) ?? 0) <= now + LATEST_END_MS,
      'The end can be at most 30 days away.',
    ),
    ...runNameRules<RunChange>(),
    v.transform(({ ends_at: end, name }) => ({
      endsAt: end === undefined ? undefined : end ? parseInstant(end) : null,
      name: name === undefined ? undefined : normalName(name ?? '') || null,
    })),
  )

/** As it arrives. */
export type RunChange = { ends_at?: string | null | undefined; name?: string | null | undefined }

/** ISO 8601 in ms since 1970; in UTC, unless it names another zone. Null if it's no such time. */
export function parseInstant(text: string): number | null {
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?$/i.exec(text.trim()) ?? []
  if (!day || !time) return null
  const midnight = new Date(`${day}T00:00Z`)
  // `Date` takes February 31 for March 3.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}
