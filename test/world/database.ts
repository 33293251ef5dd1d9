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
  /** What the triggers saw, and the id of the user, run, bill, plan or mail. */
  witnessed: { what: string; id: string }[]
}

/**
 * Write down what a look after each step could miss. Mails count only for open accounts, and a `start: …` is one that
 * should have been refused: a plan that turns unpaid may be a moment late.
 */
const WITNESSES = `
  CREATE TABLE witnessed (what TEXT NOT NULL, id TEXT NOT NULL);
  CREATE TRIGGER suspension AFTER UPDATE ON users WHEN old.suspended_at IS NULL AND new.suspended_at IS NOT NULL
    AND new.closed_at IS NULL BEGIN INSERT INTO witnessed VALUES ('suspension', new.id); END;
  CREATE TRIGGER warning AFTER UPDATE ON users WHEN old.stop_warned_at IS NULL AND new.stop_warned_at IS NOT NULL
    AND new.closed_at IS NULL BEGIN INSERT INTO witnessed VALUES ('warning', new.id); END;
  CREATE TRIGGER mail AFTER INSERT ON outbox
    BEGIN INSERT INTO witnessed SELECT 'mail: ' || new.subject, id FROM users WHERE email = new.recipient; END;
  CREATE TRIGGER mail_sent_again AFTER UPDATE ON outbox WHEN old.sent_at IS NOT NULL AND new.sent_at IS NOT NULL
    BEGIN INSERT INTO witnessed VALUES ('sent twice: ' || new.subject, new.id); END;
  CREATE TRIGGER start AFTER INSERT ON server_sessions BEGIN
    INSERT INTO witnessed SELECT 'start: closed', id FROM users WHERE id = new.user_id AND closed_at IS NOT NULL;
    INSERT INTO witnessed SELECT 'start: suspended', id FROM users WHERE id = new.user_id AND suspended_at IS NOT NULL;
    INSERT INTO witnessed SELECT 'start: unpaid', user_id FROM subscriptions WHERE user_id = new.user_id
      AND ended_at IS NULL AND status IN ('past_due', 'unpaid') AND NOT EXISTS (SELECT 1 FROM witnessed
      WHERE what LIKE 'unpaid since %' AND id = user_id AND CAST(substr(what, 14) AS INTEGER) > new.requested_at - 60000);
  END;
  CREATE TRIGGER unpaid AFTER UPDATE ON subscriptions WHEN new.status IN ('past_due', 'unpaid')
    AND old.status NOT IN ('past_due', 'unpaid')
    BEGIN INSERT INTO witnessed VALUES ('unpaid since ' || new.synced_at, new.user_id); END;
  CREATE TRIGGER loss AFTER INSERT ON jobs WHEN new.error_code = 'instance_lost' BEGIN
    INSERT INTO witnessed SELECT 'loss after ' || unseen_looks || ' looks, ' || (SELECT count(*) FROM server_sessions
      WHERE ended_at IS NULL AND unseen_since < new.created_at - 60000) || ' unseen', id
      FROM server_sessions WHERE id = new.session_id; END;
  CREATE TRIGGER take_up AFTER UPDATE ON jobs WHEN old.status = 'queued' AND new.status = 'running'
    BEGIN INSERT INTO witnessed VALUES ('taken up after ' || (new.updated_at - old.created_at), new.id); END;
  CREATE TRIGGER bill AFTER INSERT ON billing_records WHEN new.corrects IS NULL BEGIN
    INSERT INTO witnessed SELECT 'billed beside an open page', new.id FROM checkouts WHERE user_id = new.user_id
      AND status = 'open' AND created_at < new.period_end AND new.created_at < created_at + 25 * 3600000 - 60000; END;
  CREATE TRIGGER unseen AFTER UPDATE ON server_sessions WHEN new.unseen_looks > old.unseen_looks
    BEGIN INSERT INTO witnessed VALUES ('unseen ' || new.unseen_looks, new.id); END;
  CREATE TRIGGER old_invoice AFTER UPDATE ON invoices WHEN new.synced_at < old.synced_at
    BEGIN INSERT INTO witnessed VALUES ('older answer', new.record_id); END;
  CREATE TRIGGER old_plan AFTER UPDATE ON subscriptions WHEN new.synced_at < old.synced_at
    BEGIN INSERT INTO witnessed VALUES ('older answer', new.id); END;
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
      const { rows } = await client.execute('SELECT what, id FROM witnessed')
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
