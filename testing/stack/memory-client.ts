import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Client, InStatement, ResultSet } from '@libsql/client'
import Libsql from 'libsql'

/**
 * The SQLite to use. libSQL's binding takes seven times as long per call, so it only proves that both play the same, and
 * tells how it finds rows.
 */
export type Engine = 'node' | 'libsql'

type Opened = {
  exec: (sql: string) => void
  prepare: (sql: string) => Prepared
  close: () => void
}
/** @property columns none if it returns no rows */
type Prepared = {
  columns: string[]
  all: (args: unknown[]) => unknown[][]
  run: (args: unknown[]) => { changes: number }
}

const ENGINES: Record<Engine, () => Opened> = {
  node() {
    const database = new DatabaseSync(':memory:')
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql)
        statement.setReturnArrays(true)
        const columns = statement.columns().map(({ name }) => name)
        type Args = Parameters<StatementSync['all']>
        return {
          columns,
          all: (args) => statement.all(...(args as Args)) as unknown as unknown[][],
          run: (args) => ({ changes: Number(statement.run(...(args as Args)).changes) }),
        }
      },
      close: () => database.close(),
    }
  },
  libsql() {
    const database = new Libsql(':memory:')
    return {
      exec: (sql) => void database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql)
        let columns: string[] = []
        try {
          statement.raw(true)
          columns = statement.columns().map(({ name }) => name)
        } catch {
          // It returns no rows.
        }
        return {
          columns,
          all: (args) => statement.all(args) as unknown[][],
          run: (args) => statement.run(args),
        }
      },
      close: () => void database.close(),
    }
  },
}

type Statement = {
  run: (args: unknown[]) => ResultSet
  /** The table that it changes besides what triggers do; `null` if it only reads. */
  changes: string | null
}

/** A client, and a way to notice that a table hasn't changed since someone read it. */
export type MemoryClient = Client & {
  /** Rises with every statement that may have changed this table. */
  versionOf: (table: string) => number
  /** Rises with every statement that may have changed any table. */
  version: () => number
  /** Runs statements that a migration contains. */
  run: (sql: string) => void
  /** The rows as arrays, in the order of the table's columns. */
  values: (sql: string) => unknown[][]
}

/**
 * SQLite in this process, behind the client's interface. The client's own in-memory mode prepares every statement again,
 * which took a third of a world's time.
 */
export function memoryClient(engine: Engine): MemoryClient {
  const database = ENGINES[engine]()
  const prepared = new Map<string, Statement>()
  const readers = new Map<string, Prepared>()
  const versions = new Map<string, number>()
  let changes = 0

  function statementOf(sql: string): Statement {
    const known = prepared.get(sql)
    if (known) return known
    const statement = prepare(database, sql)
    prepared.set(sql, statement)
    return statement
  }

  function run(statement: InStatement | [string, unknown?]): ResultSet {
    const { sql, args = [] } =
      typeof statement === 'string' ? { sql: statement } : (statement as Exclude<InStatement, string>)
    const { run, changes: table } = statementOf(sql)
    if (table !== null) {
      changes += 1
      versions.set(table, changes)
    }
    return run((args as unknown[]).map((value) => (typeof value === 'boolean' ? Number(value) : value)))
  }

  return {
    versionOf: (table: string) => versions.get(table) ?? 0,
    version: () => changes,
    values(sql: string) {
      const reader = readers.get(sql) ?? database.prepare(sql)
      readers.set(sql, reader)
      return reader.all([])
    },
    execute: async (statement: InStatement) => run(statement),
    async batch(statements: InStatement[]) {
      // Nothing happens between two reads: everything here is synchronous.
      if (statements.every((one) => statementOf(typeof one === 'string' ? one : one.sql).changes === null))
        return statements.map(run)
      database.exec('BEGIN IMMEDIATE')
      try {
        const results = statements.map(run)
        database.exec('COMMIT')
        return results
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    run: (sql: string) => database.exec(sql),
    executeMultiple: async (sql: string) => database.exec(sql),
    close: () => database.close(),
  } as unknown as MemoryClient
}

function changedTable(sql: string): string | null {
  if (/^\s*(select|explain|create|drop)\b/i.test(sql)) return null
  const [, table] = /^\s*(?:insert(?:\s+or\s+\w+)?\s+into|update|delete\s+from)\s+"?(\w+)/i.exec(sql) ?? []
  if (table === undefined) throw new Error(`Which table does this change? ${sql.slice(0, 80)}`)
  return table
}

function prepare(database: Opened, sql: string): Statement {
  const changes = changedTable(sql)
  const { columns, all, run } = database.prepare(sql)
  const nothing = { columnTypes: [], lastInsertRowid: undefined, toJSON: () => ({}) }
  if (columns.length === 0)
    return { changes, run: (args) => ({ ...nothing, columns: [], rows: [], rowsAffected: run(args).changes }) }
  const names = columns.flatMap((name, i) => (columns.indexOf(name) === i ? [[name, i] as const] : []))
  return {
    changes,
    run(args) {
      const rows = all(args).map((values) => new Row(names, values))
      return { ...nothing, columns, rows: rows as unknown as ResultSet['rows'], rowsAffected: 0 }
    },
  }
}

/** A row by name and by position, as the client returns it: only the names are enumerable. */
class Row {
  #values: unknown[]

  constructor(names: (readonly [name: string, position: number])[], values: unknown[]) {
    this.#values = values
    for (const [name, i] of names) (this as Record<string, unknown>)[name] = values[i]
  }

  get length(): number {
    return this.#values.length
  }

  static at(row: Row, position: number): unknown {
    return row.#values[position]
  }
}

const MOST_COLUMNS = 100
for (let i = 0; i < MOST_COLUMNS; i++)
  Object.defineProperty(Row.prototype, i, {
    get(this: Row) {
      return Row.at(this, i)
    },
  })
