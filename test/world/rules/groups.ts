import { HOUR_MS } from '../../../src/domain/instant.ts'
import type { Rows } from '../database.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

type Group = { at: number; lack: number; people: string[] }

/** How many free places someone must leave: what the groups before their own lack. */
function mustLeave(groups: Group[], userId: string): number {
  const inOrder = groups.toSorted((a, b) => a.at - b.at)
  const own = inOrder.findIndex(({ people, lack }) => lack > 0 && people.includes(userId))
  const before = own < 0 ? inOrder : inOrder.slice(0, own)
  return before.reduce((sum, { lack }) => sum + Math.max(0, lack), 0)
}

/** Whether someone may have a free place of this size, whatever the line says. */
export function isTheirs(rows: Rows, userId: string, gpus: number, now: number): boolean {
  const free = rows.places.filter(
    (place) =>
      place.gpus === gpus && place.reservedBy === null && place.retiredAt === null && place.setAsideUntil <= now,
  )
  const peopleOf = (groupId: string) => {
    const emails = new Set(rows.groupPeople.flatMap((one) => (one.groupId === groupId ? one.email : [])))
    return rows.users.filter(({ email }) => emails.has(email)).map(({ id }) => id)
  }
  const groups = rows.groups
    .filter((group) => group.gpus === gpus && group.startsAt <= now && group.endsAt > now)
    .map((group): Group => {
      const members = peopleOf(group.id)
      const served = members.filter(
        (id) =>
          rows.runs.some((run) => run.userId === id && run.endedAt === null) ||
          rows.places.some(({ reservedBy }) => reservedBy === id),
      )
      return { at: group.madeAt, lack: group.places - served.length, people: members }
    })
  return free.length > mustLeave(groups, userId)
}

export const GROUP_RULES: Rule[] = [
  {
    name: 'held-back-places-are-their-groups',
    sentence: 'A place that is held back for a group is started by nobody else, and goes to nobody else in line.',
    broken: ({ rows }) =>
      rows.witnessed.flatMap(({ what, id }) => {
        const [, others, groups] = /^took one of (\d+) beside groups: (.*)$/.exec(what) ?? []
        if (!groups) return []
        const seen = JSON.parse(groups) as { at: number; lack: number; people: string | null }[]
        const userId = rows.runs.find((run) => run.id === id)?.userId ?? id
        const left = mustLeave(
          seen.map((group) => ({ ...group, people: group.people?.split(',') ?? [] })),
          userId,
        )
        return Number(others) < left ? [`${id} left ${others} places free, and groups lack ${left}`] : []
      }),
  },
  {
    name: 'groups-are-released',
    sentence: 'The audit log has the end of each group once: an operator’s, or its own.',
    broken: ({ rows, world, now }) =>
      rows.groups.flatMap(({ id, endsAt, releasedAt }) => {
        const ends = rows.audit.filter(({ act, subject }) => subject === id && /^(end|release)_group$/.test(act))
        // Triggers come often enough only in waits that count as late for the fleet.
        const isMissing = releasedAt === null && isOverdue(world, 'money', endsAt, HOUR_MS)
        const isWrong = isMissing || ends.length !== (releasedAt === null ? 0 : 1)
        return now >= endsAt && isWrong ? [`${id} ended at ${iso(endsAt)} and has ${ends.length} records`] : []
      }),
  },
]
