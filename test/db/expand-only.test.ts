import { createClient } from '@libsql/client'
import { afterAll, expect, test } from 'vitest'
import { breaksRunningVersion } from '../../db/expand-only.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'

const client = createClient({ url: (await ownDatabase()).url })
afterAll(() => client.close())

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
