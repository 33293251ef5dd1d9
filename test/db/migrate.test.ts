import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@libsql/client'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { migrateDatabase } from '../../db/migrate.ts'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { startSqld } from '../../dev/sqld.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

/** When the last of the migrations was made that 0000 replaced. */
const LAST_REPLACED = 1795856431837
const HOW = 'check out commit 81b7bae3, run "npm ci" and "npm run db:migrate" there'

const folder = temporaryFolder('migrate')
const sqld = await startSqld({ dataDir: join(folder, 'shared') })
const client = createClient({ url: sqld.url })
afterAll(async () => {
  client.close()
  await sqld.close()
})

const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
const tables = async () => (await client.execute(TABLES)).rows.map(({ name }) => name)
beforeEach(async () => void (await client.migrate((await tables()).map((name) => `DROP TABLE ${name}`))))

const run = (program: string, env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [program], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...process.env, ...env },
    // Ends a stack that starts after all.
    timeout: 60_000,
  }).then(
    ({ stdout }) => stdout.trim(),
    (error: { stderr: string }) => `failed: ${error.stderr.trim()}`,
  )
const migrate = () => run('scripts/migrate.ts', { LIBSQL_URL: sqld.url })

/** As if the last migration had been made then. */
async function noteApplied(at: number, to = client): Promise<void> {
  await to.execute('CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)')
  await to.execute({ sql: `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', ?)`, args: [at] })
}

test('migrates an empty database, and says so again', async () => {
  expect(await migrate()).toBe(`Applied ${journal.entries.map(({ tag }) => tag).join(', ')}.`)
  expect(await migrate()).toBe('The database already has every migration.')
})

test('touches nothing if a migration fails on the copy', async () => {
  await client.execute('CREATE TABLE users (id text)')
  expect(await migrate()).toMatch(/^failed: .*users.* already exists/)
  expect(await tables()).toEqual(['users'])
})

test('skips the first migration for a database that has all those it replaced', async () => {
  const [first] = readMigrationFiles({ migrationsFolder: 'db/migrations' })
  await client.migrate(first?.sql ?? [])
  await noteApplied(LAST_REPLACED)
  const later = journal.entries.slice(1).map(({ tag }) => tag)
  const done = 'The database already has every migration.'
  expect(await migrate()).toBe(later.length ? `Applied ${later.join(', ')}.` : done)
  await migrateDatabase(sqld.url)
  expect(await migrate()).toBe(done)
})

test('refuses a database that has only some of those', async () => {
  await noteApplied(LAST_REPLACED - 1)
  expect(await migrate()).toContain(HOW)
  await expect(migrateDatabase(sqld.url)).rejects.toThrow(HOW)
  expect(await tables()).toEqual(['__drizzle_migrations'])
})

test('a local stack with such a database says what to do', async () => {
  const local = await startSqld({ dataDir: join(folder, 'libsql') })
  const its = createClient({ url: local.url })
  await noteApplied(LAST_REPLACED - 1, its)
  its.close()
  await local.close()
  const said = await run('dev/main.ts', { DATA_DIR: folder, PORT: '0', LIBSQL_URL: '' })
  expect(said).toContain(HOW)
  expect(said).toMatch(new RegExp(`Delete ${folder} to start over\\.$`))
})

test('migrations are in order: drizzle skips one that is older than the newest applied', () => {
  const times = journal.entries.map(({ when }) => when)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  for (const { idx, tag } of journal.entries) expect(tag).toMatch(new RegExp(`^${String(idx).padStart(4, '0')}_`))
})
