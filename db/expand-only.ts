import { type Client, createClient } from '@libsql/client'

type Column = { name: string; type: string; notnull: number; dflt_value: string | null; pk: number }
type Schema = {
  tables: Map<string, Map<string, Column>>
  uniqueIndices: Map<string, { table: string; columns: string[] }>
  /** The table that each belongs to. */
  triggers: Map<string, string>
}

/** Statements that only add, or fill in what they added. */
const ADDS = /^(CREATE (UNIQUE )?INDEX|CREATE TABLE|CREATE TRIGGER|ALTER TABLE \S+ ADD|DROP INDEX|UPDATE|INSERT)\b/i

/**
 * Why these statements would break the running version, in sentences; empty if they only add.
 * Applies them to an empty copy of the database's schema, and compares what the running version relies on.
 */
export async function breaksRunningVersion(live: Client, statements: string[]): Promise<string[]> {
  const notAdding = statements.filter((statement) => !ADDS.test(statement.trim()))
  if (notAdding.length) return notAdding.map((statement) => `"${firstLine(statement)}" doesn't only add.`)
  const copy = createClient({ url: ':memory:' })
  try {
    const { rows } = await live.execute(
      `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*'
        ORDER BY type = 'table' DESC, rowid`,
    )
    for (const row of rows) await copy.execute(String(row.sql))
    const before = await readSchema(copy)
    for (const statement of statements) await copy.execute(statement)
    return differences(before, await readSchema(copy))
  } finally {
    copy.close()
  }
}

async function readSchema(client: Client): Promise<Schema> {
  const { rows } = await client.execute(`SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL`)
  const of = (type: string) => rows.filter((row) => row.type === type)
  const tables = new Map<string, Map<string, Column>>()
  for (const { name } of of('table')) {
    const columns = await client.execute({ sql: 'SELECT * FROM pragma_table_info(?)', args: [String(name)] })
    tables.set(String(name), new Map(columns.rows.map((row) => [String(row.name), { ...row } as unknown as Column])))
  }
  const uniqueIndices: Schema['uniqueIndices'] = new Map()
  for (const { name, tbl_name, sql } of of('index')) {
    if (!/^CREATE UNIQUE/i.test(String(sql))) continue
    const columns = await client.execute({ sql: 'SELECT name FROM pragma_index_info(?)', args: [String(name)] })
    uniqueIndices.set(String(name), { table: String(tbl_name), columns: columns.rows.map((row) => String(row.name)) })
  }
  return {
    tables,
    uniqueIndices,
    triggers: new Map(of('trigger').map((row) => [String(row.name), String(row.tbl_name)])),
  }
}

function differences(before: Schema, after: Schema): string[] {
  const found: string[] = []
  for (const [table, columns] of before.tables) {
    const now = after.tables.get(table)
    if (!now) found.push(`The table ${table} is gone.`)
    for (const [name, column] of columns) {
      const changed = now?.get(name)
      if (now && !changed) found.push(`The column ${table}.${name} is gone.`)
      else if (changed && JSON.stringify({ ...changed, cid: 0 }) !== JSON.stringify({ ...column, cid: 0 }))
        found.push(`The column ${table}.${name} changed.`)
    }
    for (const [name, { notnull, dflt_value }] of now ?? [])
      if (!columns.has(name) && notnull && dflt_value === null)
        found.push(
          `The new column ${table}.${name} must be nullable or have a default: the running version doesn't fill it.`,
        )
  }
  for (const [name, table] of after.triggers)
    if (!before.triggers.has(name) && before.tables.has(table))
      found.push(`The trigger ${name} changes what the running version does with ${table}.`)
  for (const [name, { table, columns }] of after.uniqueIndices) {
    const there = before.tables.get(table)
    // The running version leaves a new column null, and nulls never collide.
    const spares = columns.some(
      (column) => !there?.has(column) && after.tables.get(table)?.get(column)?.dflt_value === null,
    )
    if (there && !before.uniqueIndices.has(name) && !spares)
      found.push(`The unique index ${name} may refuse what the running version writes into ${table}.`)
  }
  return found
}

const firstLine = (statement: string) => statement.trim().split('\n')[0]?.slice(0, 80)
