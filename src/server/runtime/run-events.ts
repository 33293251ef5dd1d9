import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import type { RunActor, RunEventKind } from '../../domain/run-event.ts'
import { newId } from '../crypto/id.ts'
import type { Context } from './context.ts'

type Happened = {
  /** An SQL expression may look at the run as it was. */
  what: RunEventKind | SQL
  detail: string | null
  by: RunActor
}

/**
 * Inserts what happens to a run, in the batch that does it, before the change.
 * @param when an SQL condition on rows of `server_sessions`
 */
export function runEventQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  runId: string,
  { what, detail, by }: Happened,
  when: SQL = sql`1`,
): Query {
  return ctx.db.run(sql`INSERT INTO run_events (id, session_id, at, what, detail, by)
    SELECT ${newId('rev')}, id, ${ctx.now()}, ${what}, ${detail}, ${by} FROM server_sessions
    WHERE id = ${runId} AND ${when}`)
}

/** Who is acting: their sign-in or API token. */
export function actorOf({ tokenName = null }: { tokenName?: string | null }): RunActor {
  return tokenName === null ? 'site' : `token:${tokenName}`
}

/** Whether it was set, moved, or removed, in SQL: `ends_at` is still the old one. */
export function endChange(endsAt: number | null): RunEventKind | SQL {
  return endsAt === null ? 'end_removed' : sql`CASE WHEN ends_at IS NULL THEN 'end_set' ELSE 'end_moved' END`
}
