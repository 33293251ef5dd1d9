import { randomInt } from 'node:crypto'
import { and, eq, gt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { type LineGroupRow, lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
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
  /** As the form sends it, in UTC: `2026-11-28T09:00`. */
  from: string
  until: string
  /** Email addresses. */
  people: string
  withCode: boolean
}

/** @throws invalid */
export function checkedGroup(hand: Pick<Hand, 'now'>, input: NewGroup) {
  const name = input.name.trim()
  const people = groupEmails(input.people)
  const [startsAt, endsAt] = [timeOf(input.from), timeOf(input.until)]
  requireUsable(hand, { ...input, name }, startsAt, endsAt)
  requirePeople(people, people.length)
  if (!people.length && !input.withCode) refuse('people', 'Please list its people, or let them join with a code.')
  return { name, people, startsAt, endsAt }
}

/** Holds places back for a group from a time until another. @throws invalid */
export async function makeGroup(hand: Hand, input: NewGroup): Promise<LineGroupRow> {
  const { name, people, startsAt, endsAt } = checkedGroup(hand, input)
  const { gpus, places, withCode } = input
  const code = withCode ? newUserCode(randomInt) : null
  const row = { id: newId('grp'), name, gpus, places, startsAt, endsAt, code, madeAt: hand.now(), releasedAt: null }
  // The log outlives the group: no addresses, and no code.
  const detail = { name, gpus, servers: places, from: startsAt, to: endsAt, people: people.length, code: withCode }
  const joined = { joinedAt: hand.now(), news: 'added' } as const
  await writeBatch(hand.db, [
    auditQuery(hand, { act: 'make_group', subject: row.id, detail }),
    hand.db.insert(lineGroups).values(row),
    ...(people.length
      ? [hand.db.insert(lineGroupPeople).values(people.map((email) => ({ groupId: row.id, email, ...joined })))]
      : []),
  ])
  return row
}

const timeOf = (text: string) => parseInstant(text) ?? Number.NaN

export function refuse(field: string, sentence: string): never {
  throw new AppError('invalid', sentence, { field })
}

type Promised = Pick<NewGroup, 'name' | 'gpus' | 'places'>

function requireUsable(
  { now }: Pick<Hand, 'now'>,
  { name, gpus, places }: Promised,
  from: number,
  until: number,
): void {
  if (!name || name.length > LONGEST_GROUP_NAME || !usableName(name))
    refuse('name', `Please give the group a name of at most ${LONGEST_GROUP_NAME} characters.`)
  if (!Number.isInteger(gpus) || gpus < 1 || gpus > MAX_GPUS)
    refuse('gpus', `The GPUs must be a whole number from 1 to ${MAX_GPUS}.`)
  if (!Number.isInteger(places) || places < 1 || places > MOST_GROUP_PLACES)
    refuse('places', `The servers must be a whole number from 1 to ${MOST_GROUP_PLACES}.`)
  if (Number.isNaN(from)) refuse('from', 'Please say when it starts, such as 2026-11-28T09:00 (UTC).')
  if (Number.isNaN(until)) refuse('until', 'Please say when it ends, such as 2026-11-28T12:00 (UTC).')
  if (until <= Math.max(from, now())) refuse('until', 'It must end after it starts, and later than now.')
  if (until - Math.max(from, now()) > LONGEST_GROUP_MS) refuse('until', 'It can last 14 days.')
}

/** @param count how many the group would have */
export function requirePeople(emails: string[], count: number): void {
  const wrong = emails.find((email) => !isEmail(email))
  if (wrong) refuse('people', `${wrong} isn't an email address.`)
  if (count > MOST_GROUP_PEOPLE) refuse('people', `A group can have at most ${MOST_GROUP_PEOPLE} people.`)
}

export const isOpen = (id: string, now: number) => sql`line_groups.id = ${id} AND line_groups.ends_at > ${now}`

/** @throws not_found, conflict if it has ended */
export async function getOpenGroup({ db, now }: Pick<Hand, 'db' | 'now'>, id: string): Promise<LineGroupRow> {
  const [found] = await db.select().from(lineGroups).where(eq(lineGroups.id, id))
  if (!found) throw new AppError('not_found', 'No group has this ID.')
  if (found.endsAt <= now()) throw new AppError('conflict', 'This group has already ended.')
  return found
}

const CHANGED_MEANWHILE = 'Someone else changed this group. Reload the page, and try again.'

/**
 * Changes what is held back, and tells its people. It must not have ended.
 * @param input `from` may be empty: it stays
 * @throws invalid, not_found, conflict
 */
export async function changeGroup(hand: Hand, id: string, input: Omit<NewGroup, 'people' | 'withCode'>): Promise<void> {
  const group = await getOpenGroup(hand, id)
  const name = input.name.trim()
  const { gpus, places } = input
  const [startsAt, endsAt] = [input.from ? timeOf(input.from) : group.startsAt, timeOf(input.until)]
  requireUsable(hand, { name, gpus, places }, startsAt, endsAt)
  const now = hand.now()
  if (startsAt !== group.startsAt && group.startsAt <= now) refuse('from', 'It has already started.')
  const change = { name, gpus, places, startsAt, endsAt }
  const isSame = Object.entries(change).every(([key, value]) => group[key as keyof typeof change] === value)
  if (isSame) throw new AppError('conflict', 'The group is like this already.')
  const asRead = sql`${isOpen(id, now)} AND (name, gpus, places, starts_at, ends_at)
    = (${group.name}, ${group.gpus}, ${group.places}, ${group.startsAt}, ${group.endsAt})`
  const stands = sql`EXISTS (SELECT 1 FROM line_groups WHERE ${asRead})`
  const detail = { name, gpus, servers: places, from: startsAt, to: endsAt }
  const [, , changed] = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'change_group', subject: id, detail }, stands),
    // People we haven't told yet hear of it as it is now.
    hand.db.run(
      sql`UPDATE line_group_people SET news = coalesce(news, 'changed') WHERE group_id = ${id} AND ${stands}`,
    ),
    hand.db.update(lineGroups).set(change).where(asRead),
  ])
  if (!changed?.rowsAffected) throw new AppError('conflict', CHANGED_MEANWHILE)
}

/** Gives its unused places back now, and tells its people. No server stops. @throws not_found, conflict */
export async function endGroup(hand: Hand, id: string): Promise<void> {
  const now = hand.now()
  const isOn = sql`EXISTS (SELECT 1 FROM line_groups WHERE ${isOpen(id, now)})`
  const [, , ended] = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'end_group', subject: id }, isOn),
    // Someone who never heard of the group doesn't need to hear of its end.
    hand.db.run(sql`UPDATE line_group_people SET news = CASE news WHEN 'added' THEN NULL ELSE 'ended' END
      WHERE group_id = ${id} AND ${isOn}`),
    hand.db.run(sql`UPDATE line_groups SET ends_at = ${now}, released_at = ${now} WHERE ${isOpen(id, now)}`),
  ])
  if (ended?.rowsAffected) return
  await getOpenGroup(hand, id)
  throw new AppError('conflict', CHANGED_MEANWHILE)
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
    const isDue = sql`id = ${id} AND released_at IS NULL AND ends_at <= ${now}`
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
    const shown = toGroup(row, now)
    const { state } = shown
    const has = held.get(row.id) ?? 0
    return {
      ...shown,
      people,
      used: state === 'on' ? row.places - lack : 0,
      held: has,
      missing: state === 'on' ? lack - has : 0,
    }
  })
}

/** Without what it has now. An ended group shows no code. */
export function toGroup({ id, name, gpus, places, startsAt, endsAt, code }: LineGroupRow, now: number) {
  const state = endsAt <= now ? 'ended' : startsAt > now ? 'upcoming' : 'on'
  const shownCode = state === 'ended' ? null : code
  return { id, name, gpus, places, from: toIso(startsAt), until: toIso(endsAt), state, code: shownCode } as const
}
