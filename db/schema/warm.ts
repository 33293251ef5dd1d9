import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { places } from './fleet.ts'

/** How many machines of a type an operator keeps warm in a zone: `src/domain/warm-hours.ts`. */
export const warmSettings = sqliteTable(
  'warm_settings',
  {
    instanceType: text('instance_type').notNull(),
    availabilityZone: text('availability_zone').notNull(),
    /** How many in each hour of the week, from Monday at 0:00. */
    hours: text({ mode: 'json' }).$type<number[]>().notNull(),
    /** The time zone of these hours: an IANA name. */
    timeZone: text('time_zone').notNull(),
    /** What one costs an hour, according to the operator, in US cents. Null: they didn't say. */
    hourCents: real('hour_cents'),
  },
  (t) => [primaryKey({ columns: [t.instanceType, t.availabilityZone] })],
)
export type WarmSettingRow = typeof warmSettings.$inferSelect

/**
 * A machine that is waiting in a place for its first and only run. The start that takes the place moves it to
 * `launches`. To end it, we reserve its place under its token. `src/server/fleet/warm/`
 */
export const warmMachines = sqliteTable(
  'warm_machines',
  {
    /** EC2's ClientToken, as in `launches`. */
    token: text().primaryKey(),
    placeId: text('server_id')
      .notNull()
      .references(() => places.id),
    createdAt: integer('created_at').notNull(),
    /** Null: unknown, it may exist. */
    instanceId: text('instance_id'),
    /** EC2's LaunchTime, in whole seconds. */
    launchedAt: integer('launched_at'),
    /** The version of its launch template. */
    templateVersion: text('template_version'),
    /** When it last asked what it is for, and when it first had everything that it can have beforehand. */
    askedAt: integer('asked_at'),
    readyAt: integer('ready_at'),
    /** When we saw that it won't get ready or get a run. Counts until another one of its kind works. */
    failedAt: integer('failed_at'),
    /** Since when EC2 hasn't found it, and after how many looks in a row. */
    unseenSince: integer('unseen_since'),
    unseenLooks: integer('unseen_looks').notNull().default(0),
    /** Since when we have been ending it. */
    endingAt: integer('ending_at'),
    /** It's gone, or never existed. We keep the row for a day, to recognize a launch that EC2 carries out late. */
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_warm_machine_per_place').on(t.placeId).where(sql`ended_at IS NULL`),
    index('warm_machines_by_instance').on(t.instanceId),
    index('warm_machines_ended').on(t.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
)
export type WarmMachineRow = typeof warmMachines.$inferSelect
