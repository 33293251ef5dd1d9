import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InStatement } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import type { Database } from '../../db/client.ts'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { type Engine, type MemoryClient, memoryClient } from './memory-client.ts'

const MIGRATIONS = join(import.meta.dirname, '../../db/migrations')

/** The real one, even if a test has replaced it. */
const later = setImmediate

/**
 * The product's own schema and SQL in this process, for tests of rules. Over HTTP, they spent most of their time on
 * requests. Tests of what a server may do to a call use `ownDatabase`, and those of what a query costs ask libSQL.
 */
export function memoryDatabase(engine: Engine = 'node'): Database {
  const client = memoryClient(engine)
  migrate(client)
  // Whether the site is ready depends on the newest one.
  client.run('CREATE TABLE __drizzle_migrations (created_at INTEGER)')
  client.run(`INSERT INTO __drizzle_migrations VALUES (${Math.max(...journal.entries.map(({ when }) => when))})`)
  // As over HTTP, others work during a call.
  const turn = () => new Promise<void>((done) => later(done))
  const execute = async (statement: InStatement) => {
    await turn()
    return client.execute(statement)
  }
  const batch = async (statements: InStatement[]) => {
    await turn()
    return client.batch(statements)
  }
  return drizzle({ ...client, execute, batch } as MemoryClient) as Database
}

/** Applies every migration at once. */
export function migrate({ run }: { run: (sql: string) => void }): void {
  for (const file of readdirSync(MIGRATIONS).sort())
    if (file.endsWith('.sql')) run(readFileSync(join(MIGRATIONS, file), 'utf8'))
}
