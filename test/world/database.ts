import type { Client, InStatement } from '@libsql/client'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/libsql'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../db/client.ts'
import { signIns, totps, type UserRow, users } from '../../db/schema/accounts.ts'
import {
  type BillRow,
  bills,
  type CheckoutRow,
  checkouts,
  type InvoiceRow,
  invoices,
  type PlanPaymentRow,
  type PlanRow,
  planPayments,
  plans,
} from '../../db/schema/billing.ts'
import { type DeliveryRow, type WebhookRow, webhookDeliveries, webhooks } from '../../db/schema/events.ts'
import { type FileFolderRow, type FileRemovalRow, fileFolders, fileRemovals } from '../../db/schema/files.ts'
import {
  environments,
  type JobRow,
  jobs,
  type LaunchRow,
  launches,
  type PlaceRow,
  places,
  type RunRow,
  runs,
} from '../../db/schema/fleet.ts'
import { type LineGroupRow, type LineRow, line, lineGroupPeople, lineGroups } from '../../db/schema/line.ts'
import { type OutboxRow, outbox } from '../../db/schema/mail.ts'
import { type AuditRow, auditLog } from '../../db/schema/operations.ts'
import { type WarmMachineRow, type WarmSettingRow, warmMachines, warmSettings } from '../../db/schema/warm.ts'
import { type Engine, type MemoryClient, memoryClient } from '../../testing/stack/memory-client.ts'
import { migrate } from '../../testing/stack/memory-database.ts'
import type { Wire } from '../../testing/world/wire.ts'
import { WITNESSES } from './witnesses.ts'

export type Rows = {
  users: UserRow[]
  places: PlaceRow[]
  runs: RunRow[]
  launches: LaunchRow[]
  warm: WarmMachineRow[]
  warmSettings: WarmSettingRow[]
  jobs: JobRow[]
  plans: PlanRow[]
  checkouts: CheckoutRow[]
  bills: BillRow[]
  invoices: InvoiceRow[]
  planPayments: PlanPaymentRow[]
  outbox: OutboxRow[]
  webhooks: WebhookRow[]
  deliveries: DeliveryRow[]
  audit: AuditRow[]
  line: LineRow[]
  groups: LineGroupRow[]
  groupPeople: (typeof lineGroupPeople.$inferSelect)[]
  folders: FileFolderRow[]
  removals: FileRemovalRow[]
  signIns: (typeof signIns.$inferSelect)[]
  totps: (typeof totps.$inferSelect)[]
  /** What the triggers in `witnesses.ts` saw, and the ID of the user, run, bill, plan, or mail. */
  witnessed: { what: string; id: string }[]
}

const HARBOR = {
  id: 'env_harbor',
  name: 'Harbor',
  description: 'Ships.',
  plans: ['premium' as const, 'enterprise' as const],
  position: 4,
  createdAt: 0,
}

export type WorldDatabase = Awaited<ReturnType<typeof openWorldDatabase>>

/** SQLite in memory, with the product's own schema and SQL. One serves many worlds, one after the other. */
export async function openWorldDatabase(engine: Engine = 'node') {
  const client = memoryClient(engine)
  await client.executeMultiple('PRAGMA temp_store = MEMORY')
  migrate(client)
  // One database serves many worlds, so after each we delete even what may never be deleted.
  const guards = await client.execute(
    `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%BEFORE DELETE%'`,
  )
  for (const { name } of guards.rows) await client.executeMultiple(`DROP TRIGGER ${name}`)
  await client.executeMultiple(WITNESSES)
  const tables = await client.execute(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  )
  const names = childrenFirst(
    tables.rows.map(({ name }) => String(name)),
    (table) =>
      client.values(`SELECT "table" FROM pragma_foreign_key_list('${table}')`).map(([parent]) => String(parent)),
  )
  const db = drizzle(client) as Database
  const catalog = await db.select().from(environments)
  const known = new Map<string, Known>()
  return {
    /** For the world's own reads and writes: never lost, never cut. */
    db,
    /** For the product: each call waits for its turn and may fail. */
    wired: (call: Wire) => drizzle(wiredClient(client, call, known)) as Database,
    // Turning foreign keys off and on again would make SQLite prepare every statement again for every world.
    async empty() {
      await client.batch(
        names.map((name) => `DELETE FROM ${name}`),
        'write',
      )
      // What the migrations seed, and an environment that only larger plans include.
      await db.insert(environments).values([...catalog, HARBOR])
    },
    read: reader(client),
  }
}

/** In this order, each can be emptied before those it refers to. */
function childrenFirst(tables: string[], parentsOf: (table: string) => string[]): string[] {
  const sorted = new Set<string>()
  const add = (table: string) => {
    if (sorted.has(table)) return
    for (const other of tables) if (other !== table && parentsOf(other).includes(table)) add(other)
    sorted.add(table)
  }
  for (const table of tables) add(table)
  return [...sorted]
}

const TABLES = {
  users,
  places,
  runs,
  launches,
  warm: warmMachines,
  warmSettings,
  jobs,
  plans,
  checkouts,
  bills,
  invoices,
  planPayments,
  outbox,
  webhooks,
  deliveries: webhookDeliveries,
  audit: auditLog,
  line,
  groups: lineGroups,
  groupPeople: lineGroupPeople,
  folders: fileFolders,
  removals: fileRemovals,
  signIns,
  totps,
}

/** Reads all rows. For an unchanged table, returns the previous ones. */
function reader(client: MemoryClient): () => Rows {
  const parts = Object.entries(TABLES).map(([part, table]) => {
    const columns = Object.entries(getTableColumns(table)) as [string, SQLiteColumn][]
    const sql = `SELECT ${columns.map(([, { name }]) => name).join(', ')} FROM ${getTableName(table)}`
    const toRow = (values: unknown[]) =>
      Object.fromEntries(
        columns.map(([key, column], i) => [key, values[i] === null ? null : column.mapFromDriverValue(values[i])]),
      )
    const read = () => client.values(sql).map(toRow)
    return { part, read: unchanged(() => client.versionOf(getTableName(table)), read) }
  })
  const witnessed = unchanged(client.version, () =>
    client.values('SELECT what, id FROM witnessed').map(([what, id]) => ({ what, id })),
  )
  return () =>
    ({ ...Object.fromEntries(parts.map(({ part, read }) => [part, read()])), witnessed: witnessed() }) as Rows
}

function unchanged<T>(version: () => number, read: () => T): () => T {
  let seen = -1
  let last: T
  return () => {
    if (seen !== version()) last = read()
    seen = version()
    return last
  }
}

type Known = { sql: string; name: string }

/**
 * SQLite's random() can't be seeded, so its order is that of the rows. And SQLite looks at the value of a `LIMIT ?`: it
 * would prepare the statement again each time it is bound, which took half the time of a world's SQL. It doesn't look
 * into a function.
 */
function repeatable(text: string): string {
  return text.replace(/random\(\)/g, 'abs(0)').replace(/\blimit \?/gi, 'LIMIT coalesce(?, NULL)')
}

function wiredClient(client: Client, call: Wire, known: Map<string, Known>): Client {
  const look = (text: string) => {
    const found = known.get(text)
    if (found) return found
    const one = { sql: repeatable(text), name: text.replace(/\s+/g, ' ').slice(0, 60) }
    known.set(text, one)
    return one
  }
  // To find a text that was just put together, it must be read: once for each statement.
  const seeded = (statement: InStatement): { name: string; statement: InStatement } => {
    const { name, sql } = look(typeof statement === 'string' ? statement : statement.sql)
    return { name, statement: typeof statement === 'string' ? sql : { ...statement, sql } }
  }
  return {
    ...client,
    execute: ((given: InStatement) => {
      const { name, statement } = seeded(given)
      return call(`db: ${name}`, () => client.execute(statement))
    }) as Client['execute'],
    batch: ((given: InStatement[], mode) => {
      const all = given.map(seeded)
      const statements = all.map(({ statement }) => statement)
      return call(`db: ${mode === 'write' ? 'batch' : 'select'} ${all[0]?.name ?? ''}`, () =>
        client.batch(statements, mode),
      )
    }) as Client['batch'],
  } as Client
}
