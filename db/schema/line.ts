import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { RunWishes } from '../../src/domain/run-wishes.ts'
import { users } from './accounts.ts'
import { runs } from './fleet.ts'

/** Who is waiting for a place of a size: one row per account. A place that is theirs is reserved under their own ID. */
export const line = sqliteTable(
  'line',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** The size that they are waiting for. */
    gpus: integer().notNull(),
    /** They are on a trial, as of the last look. Paid plans and trials take turns. */
    trial: integer({ mode: 'boolean' }).notNull(),
    /** We start their server when it's their turn; otherwise we hold the place for them. */
    start: integer({ mode: 'boolean' }).notNull(),
    /** What that start may set. */
    wishes: text({ mode: 'json' }).$type<RunWishes & { tokenName?: string | null }>().notNull(),
    joinedAt: integer('joined_at').notNull(),
    /** In each class, the earliest is next. When they joined, or when they let another place expire. */
    queuedAt: integer('queued_at').notNull(),
    /** Their first position; null until we have told them. */
    joinedPosition: integer('joined_position'),
    /** When they got a place; null while they are waiting for one. */
    givenAt: integer('given_at'),
    /** When the held place goes to the next; null until we've checked that they may start. */
    heldUntil: integer('held_until'),
    /** How many held places they let expire. */
    lapses: integer().notNull().default(0),
    /** The run that started from it. If EC2 has no machine for it, they wait again, where they were. */
    runId: text('session_id').references(() => runs.id),
    /** What their pages show, as of the last look: 0 with a place. */
    position: integer(),
    p50: integer(),
    p90: integer(),
  },
  (t) => [
    index('line_next').on(t.gpus, t.trial, t.queuedAt, t.userId).where(sql`given_at IS NULL AND session_id IS NULL`),
    index('line_by_session').on(t.runId).where(sql`session_id IS NOT NULL`),
  ],
)
export type LineRow = typeof line.$inferSelect

/** How many paid plans got a place of a size since the last trial, while a trial waited. */
export const lineTurns = sqliteTable('line_turns', {
  gpus: integer().primaryKey(),
  paid: integer().notNull(),
})

/** How long each wait for a place took. Names nobody. */
export const lineWaits = sqliteTable(
  'line_waits',
  {
    id: integer().primaryKey(),
    gpus: integer().notNull(),
    trial: integer({ mode: 'boolean' }).notNull(),
    /** When they joined. */
    position: integer().notNull(),
    joinedAt: integer('joined_at').notNull(),
    waitedMs: integer('waited_ms').notNull(),
    /** They got a place; otherwise they left. */
    served: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [index('line_waits_by_time').on(t.joinedAt), index('line_waits_by_kind').on(t.gpus, t.trial, t.joinedAt)],
)

/**
 * An operator's promise to a group: while it lasts, this many of its people can have a server at once. No place is
 * reserved for it: the write that takes a free place leaves as many as a group still lacks.
 */
export const lineGroups = sqliteTable(
  'line_groups',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    /** The size of its places. */
    gpus: integer().notNull(),
    places: integer().notNull(),
    startsAt: integer('starts_at').notNull(),
    /** From this moment on nothing is held back. An early end moves it. */
    endsAt: integer('ends_at').notNull(),
    /** A code that adds people to the group; null: only listed people. */
    code: text().unique(),
    /** Where places are short, the group made first comes first. */
    madeAt: integer('made_at').notNull(),
    /** When the audit log recorded its end. */
    releasedAt: integer('released_at'),
  },
  (t) => [
    index('line_groups_by_size').on(t.gpus, t.endsAt),
    index('line_groups_open').on(t.endsAt).where(sql`released_at IS NULL`),
  ],
)
export type LineGroupRow = typeof lineGroups.$inferSelect

/** Who belongs to a group: the operator listed their address, or they entered its code. */
export const lineGroupPeople = sqliteTable(
  'line_group_people',
  {
    groupId: text('group_id')
      .notNull()
      .references(() => lineGroups.id),
    /** As in `users`; nobody may have signed up with it yet. */
    email: text().notNull(),
    joinedAt: integer('joined_at').notNull(),
    /** What we have yet to tell them; null: nothing. */
    news: text({ enum: ['added', 'changed', 'ended'] }),
  },
  (t) => [
    primaryKey({ columns: [t.groupId, t.email] }),
    index('line_group_people_by_email').on(t.email),
    index('line_group_people_by_news').on(t.groupId).where(sql`news IS NOT NULL`),
  ],
)
