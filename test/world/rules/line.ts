import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { LINE } from '../../../src/server/ports/objects.ts'
import type { Rows } from '../database.ts'
import { isTheirs } from './groups.ts'
import { iso, type Rule, type View } from './rule.ts'

const IDLE_MS = 5_000
/** After a disturbance, the object's fallback alarm and the minute's trigger may take this long. */
const RECOVERY_MS = 5 * MINUTE_MS
/** While both wait, this many paid plans come before each trial. */
const PAID_BEFORE_TRIAL = 3

function mayStart(rows: Rows, userId: string): boolean {
  const user = rows.users.find(({ id }) => id === userId)
  const isBarred = user?.closedAt !== null || user.suspendedAt !== null || user.heldAt !== null
  return !isBarred && !rows.runs.some((run) => run.userId === userId && run.endedAt === null)
}

/** Whether this lasts longer than it may, in time during which the object could work. */
function isLate({ world, memory, now }: View, what: string, isSo: boolean): boolean {
  const since = memory.since(what, isSo)
  if (since === null) return false
  const quiet = world.calm.forMs('fleet', since) - world.alarms.heldUp(LINE, since, now)
  return quiet > (since - world.calm.since.fleet > RECOVERY_MS ? IDLE_MS : RECOVERY_MS)
}

/** Who got a place, as the database saw it at that moment: `line 4 trial, contested, ahead 0`. For someone of a group, `line 4 group trial, …`. */
const GIVEN = /^line (\d+)( group)? (paid|trial)(, contested)?, ahead (\d+)$/

export const LINE_RULES: Rule[] = [
  {
    name: 'first-come-first-served',
    sentence: 'Nobody in line gets a place before someone of their class who came earlier and may start.',
    broken: ({ rows }) =>
      rows.witnessed.flatMap(({ what, id }) => {
        const ahead = Number(GIVEN.exec(what)?.[5] ?? 0)
        return ahead ? [`${id} passed ${ahead}`] : []
      }),
  },
  {
    name: 'classes-take-turns',
    sentence:
      'While both wait in line, a trial gets a place after every third paid plan, and not before. Those of a group don’t count.',
    broken: ({ rows }) => {
      const turns = new Map<string, number>()
      return rows.witnessed.flatMap(({ what, id }) => {
        const [, size = '', group, kind, contested] = GIVEN.exec(what) ?? []
        if (!kind || group) return []
        const paid = turns.get(size) ?? 0
        const isFair = !contested || (kind === 'paid' ? paid < PAID_BEFORE_TRIAL : paid >= PAID_BEFORE_TRIAL)
        turns.set(size, kind === 'trial' ? 0 : paid + (contested ? 1 : 0))
        return isFair ? [] : [`${id} (${kind}) after ${paid} paid turns`]
      })
    },
  },
  {
    name: 'no-click-passes-the-line',
    sentence: 'No start takes a free place that someone else waits for in line.',
    broken: ({ rows }) =>
      rows.witnessed.flatMap(({ what, id }) => {
        const [, waiting] = /^took a free place of (.*)$/.exec(what) ?? []
        const owner = rows.runs.find((run) => run.id === id)?.userId
        const others = waiting?.split(',').filter((userId) => userId !== owner) ?? []
        return others.length ? [`${id} of ${owner} while ${others} waited`] : []
      }),
  },
  {
    name: 'no-place-is-idle',
    sentence:
      'No free place is idle for more than 5 quiet seconds while someone waits for it, and no hold outlives its end.',
    broken: (view) => {
      const { rows, now } = view
      return rows.places.flatMap((place) => {
        const { id, gpus, reservedBy, retiredAt, setAsideUntil } = place
        const isFree = reservedBy === null && retiredAt === null && setAsideUntil <= now
        const waiting = rows.line.filter((row) => row.gpus === gpus && row.givenAt === null && row.runId === null)
        const isWanted =
          isFree && waiting.some(({ userId }) => mayStart(rows, userId) && isTheirs(rows, userId, gpus, now))
        const holder = rows.line.find(({ userId }) => userId === reservedBy)
        const isOver = holder?.heldUntil != null && holder.heldUntil < now
        return [
          ...(isLate(view, `idle ${id}`, isWanted) ? [`${id} is free at ${iso(now)}`] : []),
          ...(isLate(view, `held ${id}`, isOver) ? [`${id} is held by ${reservedBy}`] : []),
        ]
      })
    },
  },
  {
    name: 'a-turn-has-a-place',
    sentence: 'Someone whose turn it is has a place reserved, or waits again within 5 quiet seconds.',
    broken: (view) =>
      view.rows.line.flatMap(({ userId, givenAt, runId }) => {
        const hasPlace = view.rows.places.some(({ reservedBy }) => reservedBy === userId)
        return isLate(view, `turn of ${userId}`, givenAt !== null && runId === null && !hasPlace)
          ? [`${userId} has no place since ${iso(givenAt)}`]
          : []
      }),
  },
  {
    name: 'no-small-machine-for-a-large-wait',
    sentence: 'Everyone in line gets a place of the size that they wait for, and one only.',
    broken: ({ rows }) =>
      rows.line.flatMap((row) => {
        const held = rows.places.filter(({ reservedBy }) => reservedBy === row.userId)
        const wrong = held.filter(({ gpus }) => gpus !== row.gpus)
        return held.length > 1 || wrong.length ? [`${row.userId} has ${held.map(({ id }) => id)}`] : []
      }),
  },
]
