import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/client.ts'
import { callCounts } from '../../../db/schema/operations.ts'
import { AppError } from '../../domain/error.ts'
import type { Log } from '../settings/log.ts'
import type { Calls } from './on-demand.ts'

/** Who is called. `webhook`: Stripe calls us. */
export type System = 'database' | 'ec2' | 'stripe' | 'mail' | 'files' | 'webhook'
/** `refused`: a no that would be repeated. `failed`: no answer, "busy", or a fault. */
type CallOutcome = 'ok' | 'refused' | 'failed'

const EVERY_MS = 60_000

/** What this isolate has counted since it last wrote, by system, call, and outcome. */
const counts = new Map<string, number>()
let countingSince: number | undefined

/** Isolates share no memory, so each adds its own counts to the database, once a minute. An evicted one loses its last minute. */
function countCall(system: System, call: string, outcome: CallOutcome, times = 1): void {
  countingSince ??= Date.now()
  const key = [system, call, outcome].join(' ')
  counts.set(key, (counts.get(key) ?? 0) + times)
}

/** Counts the outcome of every call of this port. */
export function counted<Port extends Calls<Port>>(system: System, port: Port): Port {
  const call =
    (name: string) =>
    async (...args: never[]) => {
      try {
        const answer = await port[name as keyof Port](...args)
        countCall(system, name, isRefusal(answer) ? 'refused' : 'ok')
        return answer
      } catch (error) {
        countCall(system, name, error instanceof AppError && !error.retryable ? 'refused' : 'failed')
        throw error
      }
    }
  return new Proxy({} as Port, { get: (_, name) => call(String(name)) })
}

/** Counts whether the database answered, not what. */
export const countedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init)
    countCall('database', 'query', response.status < 500 && response.status !== 429 ? 'ok' : 'failed')
    return response
  } catch (error) {
    countCall('database', 'query', 'failed')
    throw error
  }
}

/** Due a minute after the first count. */
export function areCountsDue(): boolean {
  return countingSince !== undefined && Date.now() - countingSince >= EVERY_MS
}

/**
 * Writes the counts that are due. If the answer is lost they may count twice: these are for graphs, not for
 * money.
 */
export async function writeCounts({ db, log }: { db: Database; log: Log }, now: number): Promise<void> {
  if (!areCountsDue()) return
  const taken = [...counts]
  counts.clear()
  countingSince = undefined
  const rows = taken.map(([key, count]) => {
    const [system = '', call = '', outcome = ''] = key.split(' ') as [System, string, CallOutcome]
    return { system, call, outcome, count, lastAt: now }
  })
  try {
    await db
      .insert(callCounts)
      .values(rows as (typeof callCounts.$inferInsert)[])
      .onConflictDoUpdate({
        target: [callCounts.system, callCounts.call, callCounts.outcome],
        set: { count: sql`count + excluded.count`, lastAt: sql`max(last_at, excluded.last_at)` },
      })
  } catch (error) {
    for (const { system, call, outcome, count } of rows)
      countCall(system as System, call, outcome as CallOutcome, count)
    log('counts_not_written', {}, error)
  }
}

/** EC2 refuses a launch with an answer, not an error. */
function isRefusal(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'refused' in answer
}
