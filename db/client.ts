import { type Client, createClient, type InStatement, type InValue, type ResultSet } from '@libsql/client/http'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/libsql/http'
import { AppError } from '../src/domain/error.ts'

const TIMEOUT_MS = 8_000
/** libSQL serves 128 requests at once, and refuses further ones without looking at them. */
const TOO_MANY = 429
export const NO_ANSWER = "We can't reach our database. Please try again in a moment."

/** A separate class, so that scripts can tell it from other services that don't answer. */
export class NoAnswer extends AppError {
  constructor(cause: unknown) {
    super('unavailable', NO_ANSWER, { cause, retryable: true })
  }
}

/**
 * libSQL over HTTP. The client alone would wait forever; here a silent or absent database becomes one clear
 * error.
 */
export function openDatabase(url: string, authToken?: string, fetcher: typeof fetch = fetch) {
  const client = createClient({
    url,
    // Turn off its queue: one request would wait for another's answer, which Workers don't allow. (0 would
    // mean the default of 20.)
    concurrency: Number.POSITIVE_INFINITY,
    ...(authToken ? { authToken } : {}),
    fetch: async (request: Request) => {
      try {
        const response = await fetcher(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
        // Read the body to its end here, within the timeout: an answer may also break off or stall halfway.
        const body = await response.arrayBuffer()
        const { status } = response
        if (status < 500 && status !== TOO_MANY) return new Response(body, response)
        throw Object.assign(new Error(`libSQL answered HTTP ${status}: ${new TextDecoder().decode(body)}`), { status })
      } catch (cause) {
        throw new NoAnswer(cause)
      }
    },
  })
  const execute: (statement: Statement) => Promise<ResultSet> = client.execute.bind(client)
  const batch = client.batch.bind(client)
  client.execute = retryWhileBusy((statement: Statement) => execute(wellFormed(statement))) as Client['execute']
  client.batch = retryWhileBusy((all: Statement[], mode) => batch(all.map(wellFormed), mode)) as Client['batch']
  return drizzle(client)
}

/** As drizzle and `writeBatch` build them, or plain SQL. */
type Statement = { sql: string; args: InValue[] } | string

/** libSQL refuses a whole batch for half an emoji, and a text cut in the wrong place must not hold up the rest. */
const wellFormed = (statement: Statement): Statement =>
  typeof statement === 'string'
    ? statement
    : {
        sql: statement.sql,
        args: statement.args.map((value) => (typeof value === 'string' ? value.toWellFormed() : value)),
      }

const RETRY_FOR_MS = 8_000

/** Retries while another writer holds the database, or too many ask: nothing happened, so the call is safe to repeat. */
function retryWhileBusy<Args extends unknown[], T>(call: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    const since = Date.now()
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(...args)
      } catch (error) {
        if (!(isLocked(error) || isCrowded(error)) || Date.now() - since > RETRY_FOR_MS) throw error
        await new Promise((resolve) => setTimeout(resolve, 50 * attempt * (1 + Math.random())))
      }
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(BUSY|LOCKED)/.test(String(error.code))
}

function isCrowded(error: unknown): boolean {
  return error instanceof AppError && (error.cause as { status?: number } | undefined)?.status === TOO_MANY
}

export type Database = ReturnType<typeof openDatabase>

export type Query = { toSQL(): { sql: string; params: unknown[] } } | { getQuery(): { sql: string; params: unknown[] } }

/** libSQL refuses an answer of more than 10 MB, and an isolate has 128 for all requests: this many of the longest rows stay well below. */
const PIECE = 100

/**
 * Reads a list that may be of any length, a piece at a time: all of it may not fit into memory.
 * @param read at most `limit` of its rows, from the one after `last`
 */
export async function* readInPieces<Row>(
  read: (last: Row | undefined, limit: number) => PromiseLike<Row[]>,
): AsyncGenerator<Row[]> {
  let last: Row | undefined
  for (;;) {
    const piece = await read(last, PIECE)
    if (piece.length) yield piece
    if (piece.length < PIECE) return
    last = piece.at(-1)
  }
}

/** One batch of reads, each answer under its query's name. */
export async function readByName<Reads extends Record<string, BatchItem<'sqlite'>>>(
  db: Database,
  reads: Reads,
): Promise<{ [Name in keyof Reads]: Reads[Name]['_']['result'] }> {
  const answers = await db.batch(Object.values(reads) as unknown as [BatchItem<'sqlite'>])
  return Object.fromEntries(Object.keys(reads).map((name, i) => [name, answers[i]])) as never
}

/**
 * All or nothing, in one round trip, under the write lock from the start (drizzle's own batch begins
 * DEFERRED). If it throws, it may still have happened: callers make every write safe to repeat.
 */
export function writeBatch(db: Database, queries: Query[]): Promise<ResultSet[]> {
  const statements = queries.map((query) => {
    const { sql, params } = 'toSQL' in query ? query.toSQL() : query.getQuery()
    return { sql, args: params } as InStatement
  })
  return db.$client.batch(statements, 'write')
}

/** Whether a write failed because the value is taken. */
export function isUniqueViolation(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) if (e.message.includes('UNIQUE constraint failed')) return true
  return false
}

/** Whether the database is up but can't serve now: another writer held it too long, or its stream was lost. */
export function isDatabaseBusy(error: unknown): boolean {
  const isLost = error instanceof Error && 'code' in error && /^(HRANA_|SERVER_ERROR)/.test(String(error.code))
  return isLocked(error) || isLost
}
