import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api'
import { expect, test } from 'vitest'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { readSchema } from '../../testing/stack/schema.ts'

/** Each column, key, and index: a line each, in an order that doesn't tell when it came. */
function shapeOf(statements: string[]) {
  const db = new DatabaseSync(':memory:')
  for (const statement of statements) db.exec(statement)
  const lines = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).join(' ').toLowerCase())
  const ofTables = (pragma: string, columns: string) =>
    lines(`SELECT t.name AS of_table, ${columns} FROM sqlite_master t, ${pragma}(t.name) p WHERE t.type = 'table'`)
  return [
    ...ofTables('pragma_table_xinfo', 'p.name, p.type, "notnull", dflt_value, pk, hidden'),
    ...ofTables('pragma_foreign_key_list', '"from", "table", "to", on_update, on_delete'),
    ...ofTables('pragma_index_list', 'p.name, "unique", origin, partial'),
    ...lines(`SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`),
  ].sort()
}

const migrations = journal.entries.map(({ tag }) => readFileSync(`db/migrations/${tag}.sql`, 'utf8'))

test('a new database knows nobody', () => {
  const db = new DatabaseSync(':memory:')
  for (const migration of migrations) db.exec(migration)
  for (const table of ['users', 'sign_ins', 'api_tokens', 'passkeys'])
    expect(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()).toEqual({ rows: 0 })
})

test('the migrations make what the schema says', async () => {
  const nothing = await generateSQLiteDrizzleJson({})
  const wanted = await generateSQLiteMigration(nothing, await generateSQLiteDrizzleJson(await readSchema()))
  expect(shapeOf(migrations)).toEqual(shapeOf(wanted))
})
