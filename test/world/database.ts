import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, InStatement } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import type { Database } from '../../db/client.ts'
import * as schema from '../../db/schema.ts'
import type { Wire } from '../../testing/world/wire.ts'
import { memoryClient } from './memory-client.ts'

const MIGRATIONS = join(import.meta.dirname, '../../db/migrations')

export type Rows = {
  users: schema.UserRow[]
  places: schema.PlaceRow[]
  runs: schema.RunRow[]
  launches: schema.LaunchRow[]
  jobs: schema.JobRow[]
  plans: schema.PlanRow[]
  checkouts: schema.CheckoutRow[]
  bills: schema.BillRow[]
  invoices: schema.InvoiceRow[]
  outbox: schema.OutboxRow[]
  /** Every suspension, every warning, and every mail ever written, by user. */
  witnessed: { what: string; userId: string }[]
}

/** Write down what a look after each step could miss. */
const WITNESSES = `
  CREATE TABLE witnessed (what TEXT NOT NULL, user_id TEXT NOT NULL);
  CREATE TRIGGER suspension AFTER UPDATE ON users WHEN old.suspended_at IS NULL AND new.suspended_at IS NOT NULL
    BEGIN INSERT INTO witnessed VALUES ('suspension', new.id); END;
  CREATE TRIGGER warning AFTER UPDATE ON users WHEN old.stop_warned_at IS NULL AND new.stop_warned_at IS NOT NULL
    BEGIN INSERT INTO witnessed VALUES ('warning', new.id); END;
  CREATE TRIGGER mail AFTER INSERT ON outbox
    BEGIN INSERT INTO witnessed SELECT 'mail: ' || new.subject, id FROM users WHERE email = new.recipient; END;
`

export type WorldDatabase = Awaited<ReturnType<typeof openWorldDatabase>>

/** libSQL in memory, with the product's own schema and SQL. One serves many worlds, one after the other. */
export async function openWorldDatabase() {
  const client = memoryClient()
  for (const file of readdirSync(MIGRATIONS).sort())
    if (file.endsWith('.sql')) await client.executeMultiple(readFileSync(join(MIGRATIONS, file), 'utf8'))
  await client.executeMultiple(WITNESSES)
  const tables = await client.execute(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  )
  const names = tables.rows.map(({ name }) => String(name))
  const db = drizzle(client, { schema }) as Database
  return {
    /** For the world's own reads and writes: never lost, never cut. */
    db,
    /** For the product: each call waits for its turn and may fail. */
    wired: (call: Wire) => drizzle(wiredClient(client, call), { schema }) as Database,
    async empty() {
      await client.executeMultiple('PRAGMA foreign_keys = OFF')
      await client.batch(
        names.map((name) => `DELETE FROM ${name}`),
        'write',
      )
      await client.executeMultiple('PRAGMA foreign_keys = ON')
    },
    async read(): Promise<Rows> {
      const { users, places, runs, launches, jobs, plans, checkouts, bills, invoices, outbox } = schema
      const all = await db.batch([
        db.select().from(users),
        db.select().from(places),
        db.select().from(runs),
        db.select().from(launches),
        db.select().from(jobs),
        db.select().from(plans),
        db.select().from(checkouts),
        db.select().from(bills),
        db.select().from(invoices),
        db.select().from(outbox),
      ])
      const { rows } = await client.execute('SELECT what, user_id AS userId FROM witnessed')
      return {
        users: all[0],
        places: all[1],
        runs: all[2],
        launches: all[3],
        jobs: all[4],
        plans: all[5],
        checkouts: all[6],
        bills: all[7],
        invoices: all[8],
        outbox: all[9],
        witnessed: rows as unknown as Rows['witnessed'],
      }
    },
  }
}

/** SQLite's random() can't be seeded, so its order is that of the rows. */
function wiredClient(client: Client, call: Wire): Client {
  const seeded = <S>(statement: S): S =>
    typeof statement === 'string'
      ? (statement.replace(/random\(\)/g, 'abs(0)') as S)
      : ({ ...statement, sql: (statement as { sql: string }).sql.replace(/random\(\)/g, 'abs(0)') } as S)
  const name = (statement: unknown) => {
    const text = String((statement as { sql?: string }).sql ?? statement)
    return text.replace(/\s+/g, ' ').slice(0, 60)
  }
  return {
    ...client,
    execute: ((statement: InStatement) =>
      call(`db: ${name(statement)}`, () => client.execute(seeded(statement)))) as Client['execute'],
    batch: ((statements: InStatement[], mode) =>
      call(`db: ${mode === 'write' ? 'batch' : 'select'} ${name(statements[0])}`, () =>
        client.batch(statements.map(seeded), mode),
      )) as Client['batch'],
  } as Client
}
