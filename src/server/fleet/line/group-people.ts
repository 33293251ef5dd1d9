import { randomInt } from 'node:crypto'
import { and, eq, isNotNull, isNull, not, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type LineGroupRow, lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
import { newUserCode } from '../../../domain/device-code.ts'
import { AppError } from '../../../domain/error.ts'
import { toIso } from '../../../domain/instant.ts'
import { groupEmails, MOST_GROUP_PEOPLE, MOST_REMOVED_PEOPLE } from '../../../domain/line-group.ts'
import type { GroupRecord } from '../../../domain/views.ts'
import { groupAddedMail, groupChangedMail, groupEndedMail, groupRemovedMail } from '../../mail/group-letters.ts'
import { composeMail, type Message } from '../../mail/letter.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import { mailQuery } from '../../mail/outbox.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { getOpenGroup, isOpen, refuse, requirePeople, toGroup } from './groups.ts'
import { hasServer } from './hold-back.ts'

/** A group and its people, who may have no account yet. @throws not_found */
export async function getGroup({ db, now }: Pick<Context, 'db' | 'now'>, id: string): Promise<GroupRecord> {
  const [[row], people] = await db.batch([
    db.select().from(lineGroups).where(eq(lineGroups.id, id)),
    db
      .select({
        email: lineGroupPeople.email,
        joinedAt: lineGroupPeople.joinedAt,
        userId: users.id,
        hasServer: sql<0 | 1>`coalesce(${hasServer(sql`users`)}, 0)`,
      })
      .from(lineGroupPeople)
      .leftJoin(users, and(eq(users.email, lineGroupPeople.email), isNull(users.closedAt)))
      .where(eq(lineGroupPeople.groupId, id))
      .orderBy(lineGroupPeople.email),
  ])
  if (!row) throw new AppError('not_found', 'No group has this ID.')
  const shown = people.map((one) => ({ ...one, joinedAt: toIso(one.joinedAt), hasServer: one.hasServer === 1 }))
  return { ...toGroup(row, now()), people: shown }
}

/** Adds people to a group that hasn't ended, and tells them. @throws invalid, not_found, conflict */
export async function addPeople(hand: Hand, id: string, text: string): Promise<void> {
  const emails = groupEmails(text)
  if (!emails.length) refuse('people', 'Please list their email addresses.')
  await getOpenGroup(hand, id)
  const list = JSON.stringify(emails)
  const isOf = eq(lineGroupPeople.groupId, id)
  const isListed = sql`email IN (SELECT value FROM json_each(${list}))`
  const others = and(isOf, not(isListed))
  requirePeople(emails, (await hand.db.$count(lineGroupPeople, others)) + emails.length)
  const now = hand.now()
  // A code may have brought others since.
  const fits = sql`${isOpen(id, now)} AND
    (SELECT count(*) FROM line_group_people WHERE ${others}) + ${emails.length} <= ${MOST_GROUP_PEOPLE}`
  const added = sql`SELECT line_groups.id, value, ${now}, 'added' FROM line_groups, json_each(${list})
    WHERE ${fits} AND value NOT IN (SELECT email FROM line_group_people WHERE group_id = ${id})`
  const detail = { added: emails.length - (await hand.db.$count(lineGroupPeople, and(isOf, isListed))) }
  const [, done] = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'change_group', subject: id, detail }, sql`EXISTS (${added})`),
    hand.db.run(sql`INSERT INTO line_group_people (group_id, email, joined_at, news) ${added}`),
  ])
  if (!done?.rowsAffected) throw new AppError('conflict', 'They are in this group already.')
}

/**
 * Takes people out of a group that hasn't ended, and tells them.
 * @returns the group's new code, since they know the old one; null if it has none
 * @throws invalid, not_found, conflict
 */
export async function removePeople(ctx: Context, hand: Hand, id: string, emails: string[]): Promise<string | null> {
  if (!emails.length || emails.length > MOST_REMOVED_PEOPLE)
    refuse('remove', `Please check the people to remove, at most ${MOST_REMOVED_PEOPLE} at once.`)
  const { name, code: oldCode } = await getOpenGroup(hand, id)
  const code = oldCode && newUserCode(randomInt)
  const areIn = sql`group_id = ${id} AND line_group_people.email IN (SELECT value FROM json_each(${JSON.stringify(emails)}))`
  const isIn = (more = sql`1`) => sql`EXISTS (SELECT 1 FROM line_group_people WHERE ${areIn} AND ${more})`
  const leaving = await findMembers(ctx.db, areIn, emails.length)
  // Someone who never heard of the group doesn't need to hear of this.
  const told = leaving.map((one) =>
    tellMember(ctx, one, groupRemovedMail(name), isIn(sql`email = ${one.email} AND news IS NOT 'added'`)),
  )
  const detail = { removed: leaving.length }
  const results = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'change_group', subject: id, detail }, isIn()),
    ...told.flat(),
    hand.db
      .update(lineGroups)
      .set({ code })
      .where(and(eq(lineGroups.id, id), isIn())),
    hand.db.run(sql`DELETE FROM line_group_people WHERE ${areIn}`),
  ])
  if (!results.at(-1)?.rowsAffected) throw new AppError('conflict', 'They are no longer in this group.')
  ringBells(ctx, leaving, told, results.slice(1))
  return code
}

type Member = { email: string; userId: string | null; isClosed: 0 | 1; news: 'added' | 'changed' | 'ended' | null }
type WithGroup = Member & { group: LineGroupRow }

function findMembers(db: Context['db'], which: SQL, most: number): Promise<WithGroup[]> {
  return db
    .select({
      email: lineGroupPeople.email,
      news: lineGroupPeople.news,
      userId: users.id,
      isClosed: sql<0 | 1>`users.closed_at IS NOT NULL`,
      group: lineGroups,
    })
    .from(lineGroupPeople)
    .innerJoin(lineGroups, eq(lineGroups.id, lineGroupPeople.groupId))
    .leftJoin(users, and(eq(users.email, lineGroupPeople.email), isNotNull(users.confirmedAt)))
    .where(which)
    .limit(most)
}

/** People without a confirmed account get only the email. People who closed theirs get nothing. */
function tellMember(ctx: Context, { email, userId, isClosed }: Member, mail: Message, when: SQL) {
  if (isClosed) return []
  if (userId) return tellQueries(ctx, { id: userId, email }, mail, when)
  return [mailQuery(ctx, email, composeMail(mail.subject, mail.parts), when)]
}

const AT_ONCE = 50

/** Tells people what has happened to their groups since they last heard. */
export async function tellGroups(ctx: Context): Promise<void> {
  for (;;) {
    const due = await findMembers(ctx.db, sql`line_group_people.news IS NOT NULL`, AT_ONCE)
    if (!due.length) return
    const told = due.map((one) => {
      const { id, name, gpus, places, startsAt, endsAt } = one.group
      // An operator may change it again before this is written: the next look reports that.
      const isDue = sql`group_id = ${id} AND email = ${one.email} AND news = ${one.news} AND EXISTS (
        SELECT 1 FROM line_groups WHERE (id, name, gpus, places, starts_at, ends_at) = (${id}, ${name}, ${gpus}, ${places}, ${startsAt}, ${endsAt}))`
      const mail = newsOf(ctx, one)
      const when = sql`EXISTS (SELECT 1 FROM line_group_people WHERE ${isDue})`
      return [
        ...(mail ? tellMember(ctx, one, mail, when) : []),
        ctx.db.run(sql`UPDATE line_group_people SET news = NULL WHERE ${isDue}`),
      ]
    })
    const results = await writeBatch(ctx.db, told.flat())
    ringBells(ctx, due, told, results)
    if (due.length < AT_ONCE) return
  }
}

/** Null: there is nothing left to say. */
function newsOf(ctx: Context, { news, userId, group }: WithGroup): Message | null {
  if (news === 'ended') return groupEndedMail(group.name)
  if (group.endsAt <= ctx.now()) return null
  return news === 'added'
    ? groupAddedMail(siteOrigin(ctx), group, userId !== null)
    : groupChangedMail(siteOrigin(ctx), group)
}

/** @param results the results of these queries */
function ringBells(ctx: Context, people: Member[], told: unknown[][], results: Parameters<typeof tellSoon>[2][]): void {
  let at = 0
  for (const [n, queries] of told.entries()) {
    const userId = people[n]?.userId
    // A notice follows its email.
    if (userId && queries.length > 1) tellSoon(ctx, userId, results[at + 1])
    at += queries.length
  }
}
