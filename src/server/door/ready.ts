import { and, desc, isNotNull, isNull } from 'drizzle-orm'
import { runs } from '../../../db/schema/fleet.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import type { Context } from '../runtime/context.ts'

/** One simulator may have crashed. Three at once haven't. */
const ASKED = 3
const KEPT_MS = 10_000
let kept: { answer: { network: 'reachable' | 'unreachable' | null }; until: number } | null = null

/** Whether the binding leads to the machines, for `npm run doctor`. Null while no running server could tell. */
export async function answerReady(ctx: Context): Promise<Response> {
  if (!kept || Date.now() >= kept.until) {
    // Requests during a check, or after a failed one, get the last result.
    kept = { answer: kept?.answer ?? { network: null }, until: Date.now() + KEPT_MS }
    const network = await look(ctx).catch((error) => {
      ctx.log('door_ready_failed', {}, error)
      return null
    })
    kept = { answer: { network }, until: Date.now() + KEPT_MS }
  }
  const status = kept.answer.network === 'unreachable' ? 503 : 200
  return Response.json(kept.answer, { status, headers: { 'cache-control': 'no-store' } })
}

async function look(ctx: Context) {
  const newest = await ctx.db
    .select({ address: runs.privateAddress })
    .from(runs)
    .where(
      and(
        ...[runs.doorLabel, runs.billedFrom, runs.privateAddress].map((column) => isNotNull(column)),
        ...[runs.stopRequestedAt, runs.endedAt, runs.unseenSince].map((column) => isNull(column)),
      ),
    )
    .orderBy(desc(runs.billedFrom))
    .limit(ASKED)
  const addresses = newest.map(({ address }) => address ?? '')
  if (!addresses.length) return null
  const answers = await Promise.all(addresses.map((address) => ctx.reach(address, SERVER_WEB_PORT)))
  return answers.some(({ status }) => status === 'reachable') ? 'reachable' : 'unreachable'
}
