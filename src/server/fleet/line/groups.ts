import { randomInt } from 'node:crypto'
import { and, eq, gt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type LineGroupRow, lineGroupPeople, lineGroups, places } from '../../../../db/schema.ts'
import { newUserCode } from '../../../domain/device-code.ts'
import { AppError } from '../../../domain/error.ts'
import { DAY_MS, toIso } from '../../../domain/instant.ts'
import {
  groupEmails,
  heldPlaces,
  LONGEST_GROUP_MS,
  LONGEST_GROUP_NAME,
  MOST_GROUP_PEOPLE,
  MOST_GROUP_PLACES,
} from '../../../domain/line-group.ts'
import { isEmail, usableName } from '../../../domain/person.ts'
import { parseInstant } from '../../../domain/run-change.ts'
import { MAX_GPUS } from '../../../domain/run-wishes.ts'
import type { GroupLine } from '../../../domain/views.ts'
import { newId } from '../../crypto/id.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'
import type { Context } from '../../runtime/context.ts'
import { IS_FREE, isOfferedAt } from '../places.ts'
import { lackOf } from './hold-back.ts'

const SHOWN_MS = 30 * DAY_MS

export type NewGroup = {
  name: string
  gpus: number
  places: number
  /** As the form sends them, in UTC: `2026-11-28T09:00`. */
  from: string
  until: string
  /** Email addresses. */
  people: string
  withCode: boolean
}

/** Holds places back for a group from a time until another. @throws invalid */
export async function makeGroup(hand: Hand, input: NewGroup): Promise<LineGroupRow> {
  const name = input.name.trim()
  const people = groupEmails(input.people)
  const [startsAt, endsAt] = [timeOf(input.from), timeOf(input.until)]
  requireUsable(hand, { ...input, name }, people, startsAt, endsAt)
  const { gpus, places, withCode } = input
  const code = withCode ? newUserCode(randomInt) : null
  const row = { id: newId('grp'), name, gpus, places, startsAt, endsAt, code, madeAt: hand.now(), releasedAt: null }
  // The log outlives the group: no addresses, and no code.
  const detail = { name, gpus, count: places, from: startsAt, to: endsAt, people: people.length, code: withCode }
  const joinedAt = hand.now()
  await writeBatch(hand.db, [
    auditQuery(hand, { act: 'make_group', subject: row.id, detail }),
    hand.db.insert(lineGroups).values(row),
    ...(people.length
      ? [hand.db.insert(lineGroupPeople).values(people.map((email) => ({ groupId: row.id, email, joinedAt })))]
      : []),
  ])
  return row
}

const timeOf = (text: string) => parseInstant(text) ?? Number.NaN

function requireUsable({ now }: Hand, input: NewGroup, people: string[], from: number, until: number): void {
  const refuse = (field: string, sentence: string) => {
    throw new AppError('invalid', sentence, { field })
  }
  const { name, gpus, places, withCode } = input
  if (!name || name.length > LONGEST_GROUP_NAME || !usableName(name))
    refuse('name', `Please give the group a name of at most ${LONGEST_GROUP_NAME} characters.`)
  if (!Number.isInteger(gpus) || gpus < 1 || gpus > MAX_GPUS)
    refuse('gpus', `The GPUs must be a whole number from 1 to ${MAX_GPUS}.`)
  if (!Number.isInteger(places) || places < 1 || places > MOST_GROUP_PLACES)
    refuse('places', `The places must be a whole number from 1 to ${MOST_GROUP_PLACES}.`)
  if (Number.isNaN(from)) refuse('from', 'Please say when it starts, such as 2026-11-28T09:00 (UTC).')
  if (Number.isNaN(until)) refuse('until', 'Please say when it ends, such as 2026-11-28T12:00 (UTC).')
  if (until <= Math.max(from, now())) refuse('until', 'It must end after it starts, and later than now.')
  if (until - Math.max(from, now()) > LONGEST_GROUP_MS) refuse('until', 'It can last 14 days.')
  const wrong = people.find((email) => !isEmail(email))
  if (wrong) refuse('people', `${wrong} is no email address.`)
  if (people.length > MOST_GROUP_PEOPLE) refuse('people', `A group can have ${MOST_GROUP_PEOPLE} people.`)
  if (!people.length && !withCode) refuse('people', 'Please list its people, or let them join with a code.')
}

/** Gives its unused places back now. Nobody's server stops. @throws not_found, conflict */
export async function endGroup(hand: Hand, id: string): Promise<void> {
  const now = hand.now()
  const isOpen = sql`id = ${id} AND ends_at > ${now}`
  const [, ended] = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'end_group', subject: id }, sql`EXISTS (SELECT 1 FROM line_groups WHERE ${isOpen})`),
    hand.db.run(sql`UPDATE line_groups SET ends_at = ${now}, released_at = ${now} WHERE ${isOpen}`),
  ])
  if (ended?.rowsAffected) return
  const [found] = await hand.db.select().from(lineGroups).where(eq(lineGroups.id, id))
  if (!found) throw new AppError('not_found', 'No group has this ID.')
  throw new AppError('conflict', 'This group has already ended.')
}

/** Writes the end of groups whose time is over into the audit log. They hold nothing since that moment. */
export async function releaseGroups(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const now = ctx.now()
  const over = await ctx.db
    .select({ id: lineGroups.id, name: lineGroups.name, lack: lackOf(sql`line_groups`) })
    .from(lineGroups)
    .where(sql`released_at IS NULL AND ends_at <= ${now}`)
  const hand = { db: ctx.db, now: ctx.now, by: { id: 'script', reason: 'Its time was over.' } }
  for (const { id, name, lack } of over) {
    const isDue = sql`id = ${id} AND released_at IS NULL`
    const due = sql`EXISTS (SELECT 1 FROM line_groups WHERE ${isDue})`
    await writeBatch(ctx.db, [
      auditQuery(hand, { act: 'release_group', subject: id, detail: { name, unused: lack } }, due),
      ctx.db.run(sql`UPDATE line_groups SET released_at = ${now} WHERE ${isDue}`),
    ])
  }
}

/** Every group that isn't long over, with what it has now. */
export async function listGroups({ db, now: clock }: Pick<Context, 'db' | 'now'>): Promise<GroupLine[]> {
  const now = clock()
  const [rows, free] = await db.batch([
    db
      .select({
        row: lineGroups,
        people: sql<number>`(SELECT count(*) FROM line_group_people WHERE group_id = line_groups.id)`,
        lack: lackOf(sql`line_groups`),
      })
      .from(lineGroups)
      .where(gt(lineGroups.endsAt, now - SHOWN_MS))
      .orderBy(sql`ends_at <= ${now}, starts_at DESC`),
    db
      .select({ gpus: places.gpus, count: sql<number>`count(*)` })
      .from(places)
      .where(and(IS_FREE, isOfferedAt(now)))
      .groupBy(places.gpus),
  ])
  const on = rows.filter(({ row }) => row.startsAt <= now && row.endsAt > now)
  const held = heldPlaces(
    on.map(({ row, lack }) => ({ ...row, lack })),
    new Map(free.map(({ gpus, count }) => [gpus, count])),
  )
  return rows.map(({ row, people, lack }) => {
    const state = row.endsAt <= now ? 'ended' : row.startsAt > now ? 'upcoming' : 'on'
    const has = held.get(row.id) ?? 0
    return {
      id: row.id,
      name: row.name,
      gpus: row.gpus,
      places: row.places,
      from: toIso(row.startsAt),
      until: toIso(row.endsAt),
      state,
      code: state === 'ended' ? null : row.code,
      people,
      used: state === 'on' ? row.places - lack : 0,
      held: has,
      missing: state === 'on' ? lack - has : 0,
    }
  })
}
