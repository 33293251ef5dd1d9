import type { Client, InStatement, ResultSet } from '@libsql/client'
import Database from 'libsql'

type Statement = { run: (args: unknown[]) => ResultSet }

/**
 * libSQL in this process, behind the client's interface. The client's own in-memory mode prepares every statement again,
 * which took a third of a world's time.
 */
export function memoryClient(): Client {
  const database = new Database(':memory:')
  const prepared = new Map<string, Statement>()

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
    return statementOf(sql).run(
      (args as unknown[]).map((value) => (typeof value === 'boolean' ? Number(value) : value)),
    )
  }

  return {
    execute: async (statement: InStatement) => run(statement),
    async batch(statements: InStatement[], mode?: string) {
      database.exec(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN')
      try {
        const results = statements.map(run)
        database.exec('COMMIT')
        return results
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    executeMultiple: async (sql: string) => void database.exec(sql),
    close: () => database.close(),
  } as unknown as Client
}

function prepare(database: Database.Database, sql: string): Statement {
  const statement = database.prepare(sql)
  const nothing = { columnTypes: [], lastInsertRowid: undefined, toJSON: () => ({}) }
  try {
    statement.raw(true)
  } catch {
    // It returns no rows.
    return {
      run: (args) => ({ ...nothing, columns: [], rows: [], rowsAffected: statement.run(...args).changes }),
    }
  }
  const columns = statement.columns().map(({ name }) => name)
  return {
    run(args) {
      const rows = (statement.all(...args) as unknown[][]).map((values) => new Row(columns, values))
      return { ...nothing, columns, rows: rows as unknown as ResultSet['rows'], rowsAffected: 0 }
    },
  }
}

/** A row by name and by position, as the client returns it: only the names can be enumerated. */
class Row {
  #values: unknown[]

  constructor(columns: string[], values: unknown[]) {
    this.#values = values
    for (const [i, column] of columns.entries())
      if (!Object.hasOwn(this, column)) (this as Record<string, unknown>)[column] = values[i]
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
