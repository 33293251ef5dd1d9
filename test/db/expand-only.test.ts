import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@libsql/client'
import { afterAll, expect, test } from 'vitest'
import { breaksRunningVersion } from '../../db/expand-only.ts'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { startSqld } from '../../dev/sqld.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

const dataDir = temporaryFolder('expand-only')
const sqld = await startSqld({ dataDir })
const client = createClient({ url: sqld.url })
afterAll(async () => {
  client.close()
  await sqld.close()
})

const migrate = () =>
  promisify(execFile)(process.execPath, ['scripts/migrate.ts'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...process.env, LIBSQL_URL: sqld.url },
  }).then(
    ({ stdout }) => stdout.trim(),
    (error: { stderr: string }) => `failed: ${error.stderr.trim()}`,
  )

test('migrates an empty database, and says so again', async () => {
  expect(await migrate()).toBe(`Applied ${journal.entries.map(({ tag }) => tag).join(', ')}.`)
  expect(await migrate()).toBe('The database already has every migration.')
})

test('touches nothing if a migration fails on the copy', async () => {
  const newest = journal.entries.at(-1)?.when ?? 0
  const adds = (tag: string) =>
    /^(ALTER|CREATE)/m.test(readFileSync(resolve(import.meta.dirname, `../../db/migrations/${tag}.sql`), 'utf8'))
  const from = journal.entries.findLast(({ tag }) => adds(tag))?.when ?? 0
  await client.execute({ sql: 'DELETE FROM __drizzle_migrations WHERE created_at >= ?', args: [from] })
  // Run the last migration that adds something again: it already exists.
  expect(await migrate()).toMatch(/^failed: .*(duplicate column|already exists)/)
  const { rows } = await client.execute('SELECT max(created_at) AS at FROM __drizzle_migrations')
  expect(rows[0]?.at).toBeLessThan(from)
  await client.execute({ sql: `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', ?)`, args: [newest] })
})

test.each([
  ['ALTER TABLE servers ADD a text'],
  ['ALTER TABLE servers ADD b integer DEFAULT 0 NOT NULL'],
  ['CREATE TABLE notes (id text PRIMARY KEY NOT NULL, body text NOT NULL)', 'CREATE UNIQUE INDEX once ON notes (body)'],
  ['CREATE INDEX c ON servers (position)'],
  ['ALTER TABLE servers ADD d text', 'CREATE UNIQUE INDEX d ON servers (d)'],
  ['ALTER TABLE servers ADD e text', 'UPDATE servers SET e = availability_zone'],
  ['CREATE TABLE log (id text)', `CREATE TRIGGER keep BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'no'); END`],
])('accepts %s', async (...statements) => {
  expect(await breaksRunningVersion(client, statements)).toEqual([])
})

test.each([
  ['DROP TABLE alerts', `"DROP TABLE alerts" doesn't only add.`],
  ['DELETE FROM alerts', `"DELETE FROM alerts" doesn't only add.`],
  ['ALTER TABLE servers DROP COLUMN gpus', `"ALTER TABLE servers DROP COLUMN gpus" doesn't only add.`],
  [
    'ALTER TABLE servers RENAME COLUMN gpus TO size',
    `"ALTER TABLE servers RENAME COLUMN gpus TO size" doesn't only add.`,
  ],
  [
    'CREATE UNIQUE INDEX one ON servers (instance_type)',
    'The unique index one may refuse what the running version writes into servers.',
  ],
  [
    `CREATE TRIGGER t BEFORE DELETE ON servers BEGIN SELECT RAISE(ABORT, 'no'); END`,
    'The trigger t changes what the running version does with servers.',
  ],
])('refuses %s', async (statement, sentence) => {
  expect(await breaksRunningVersion(client, [statement])).toEqual([sentence])
})

test('checks the copy, never the database itself', async () => {
  await breaksRunningVersion(client, ['ALTER TABLE servers ADD only_in_the_copy text'])
  const { rows } = await client.execute(`SELECT sql FROM sqlite_master WHERE name = 'servers'`)
  expect(String(rows[0]?.sql)).not.toContain('only_in_the_copy')
})

test('migrations are in order: drizzle skips one that is older than the newest applied', () => {
  const times = journal.entries.map(({ when }) => when)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  for (const { idx, tag } of journal.entries) expect(tag).toMatch(new RegExp(`^${String(idx).padStart(4, '0')}_`))
})
