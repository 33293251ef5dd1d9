import { type SQL, sql } from 'drizzle-orm'
import { IS_KEPT } from '../warm/take.ts'

/**
 * Places held back for groups, in SQL, for the writes that take or hand out a free place. Nothing reserves them. As
 * many free places of a size stay free as its groups still lack, so a group takes places as they free up from its first
 * moment on, and holds nothing after its last. `src/domain/line-group.ts` has the same rule in words.
 */

/** Whether a group's time has come and isn't over. */
const isOn = (group: SQL, now: number) => sql`(${group}.starts_at <= ${now} AND ${group}.ends_at > ${now})`

/** How many places a group still lacks: each of its people with a server, or a held place, has one. */
export function lackOf(group: SQL): SQL<number> {
  return sql<number>`max(0, ${group}.places - (SELECT count(*) FROM line_group_people AS person JOIN users ON users.email = person.email
    WHERE person.group_id = ${group}.id AND ${hasServer(sql`users`)}))`
}

/** Whether they have a server, or a held place. */
export function hasServer(user: SQL): SQL {
  return sql`(EXISTS (SELECT 1 FROM server_sessions WHERE server_sessions.user_id = ${user}.id AND server_sessions.ended_at IS NULL)
      OR EXISTS (SELECT 1 FROM servers AS held WHERE held.reserved_by = ${user}.id))`
}

/** This user's groups that hold back places of a row of `servers`' size and still lack one. */
function claimsOf(userId: string | SQL, now: number): SQL {
  return sql`line_groups AS mine JOIN line_group_people AS me ON me.group_id = mine.id
    JOIN users AS account ON account.email = me.email WHERE account.id = ${userId} AND mine.gpus = servers.gpus
    AND ${isOn(sql`mine`, now)} AND ${lackOf(sql`mine`)} > 0`
}

/** How many free places of a row's size this user must leave: what all groups that come before theirs lack. */
function heldBackFrom(userId: string | SQL | null, now: number): SQL {
  const comesFirst =
    userId === null
      ? sql`1`
      : sql`NOT EXISTS (SELECT 1 FROM ${claimsOf(userId, now)} AND (mine.made_at, mine.id) <= (one.made_at, one.id))`
  return sql`(SELECT coalesce(sum(${lackOf(sql`one`)}), 0) FROM line_groups AS one
    WHERE one.gpus = servers.gpus AND ${isOn(sql`one`, now)} AND ${comesFirst})`
}

const isAnyOn = (now: number) =>
  sql`EXISTS (SELECT 1 FROM line_groups AS any_group WHERE any_group.gpus = servers.gpus AND ${isOn(sql`any_group`, now)})`

/** Other free places of the same size as a row of `servers`. */
const isOther = (now: number) => sql`(other.gpus = servers.gpus AND other.id <> servers.id
    AND +other.reserved_by IS NULL AND other.retired_at IS NULL AND other.set_aside_until <= ${now})`

/** Whether enough places of its size stay free if this user takes a row of `servers`. Null: someone in no group. */
export function isLeftFor(userId: string | SQL | null, now: number): SQL {
  const others = sql`(SELECT count(*) FROM servers AS other WHERE ${isOther(now)})`
  return sql`(NOT ${isAnyOn(now)} OR ${others} >= ${heldBackFrom(userId, now)})`
}

/** Whether a row of `servers` has no warm machine, or enough others stay warm for the groups that come first. */
export function isWarmLeftFor(userId: string | SQL | null, now: number): SQL {
  const others = sql`(SELECT count(*) FROM warm_machines CROSS JOIN servers AS other ON other.id = server_id
    WHERE ${IS_KEPT} AND ${isOther(now)})`
  return sql`(NOT ${isAnyOn(now)} OR NOT EXISTS (SELECT 1 FROM warm_machines WHERE server_id = servers.id AND ${IS_KEPT})
    OR ${others} >= ${heldBackFrom(userId, now)})`
}

/** Whether a user in line is in a group with places of the size that they are waiting for. */
export function isOfAGroup(now: number): SQL {
  return sql`EXISTS (SELECT 1 FROM line_groups AS own JOIN line_group_people AS person ON person.group_id = own.id
    JOIN users ON users.email = person.email WHERE users.id = line.user_id AND own.gpus = line.gpus AND ${isOn(sql`own`, now)})`
}

/** Whether someone in line may pass this user at a row of `servers`: a group's places are only for its people. */
export function isRival(other: SQL, userId: string, now: number): SQL {
  return sql`(NOT ${isAnyOn(now)} OR ${isLeftFor(other, now)} AND (NOT EXISTS (SELECT 1 FROM ${claimsOf(userId, now)})
    OR EXISTS (SELECT 1 FROM ${claimsOf(other, now)})))`
}
