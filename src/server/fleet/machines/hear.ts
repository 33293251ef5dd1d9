import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import { writeBatch } from '../../../../db/client.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { sizeText } from '../../../domain/files.ts'
import { DEATHS } from '../../../domain/run-end.ts'
import { LOG_SOURCES } from '../../../domain/run-log.ts'
import type { Sample } from '../../../domain/run-metrics.ts'
import { keepsEndingNotice } from '../../mail/ending-letters.ts'
import { noticeQuery, tellSoon } from '../../mail/notices.ts'
import type { LogBatch, MachineNews, MachinePhase } from '../../ports/objects.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { toServer } from '../wire.ts'
import type { RunKey } from './run-key.ts'

/** In ms since 1970. */
const at = z.number().check(z.minimum(0), z.maximum(1e14))
const exitCode = z.int().check(z.minimum(0), z.maximum(255))
const phase = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('pulling'),
    percent: z.catch(z.int().check(z.minimum(0), z.maximum(99)), 0),
    bytes: z.catch(z.number().check(z.minimum(0), z.maximum(1e15)), 0),
  }),
  z.object({ name: z.enum(['pulled', 'started']) }),
  z.object({ name: z.literal('exited'), exit_code: exitCode, oom: z.boolean(), answered: z.optional(z.boolean()) }),
  z.object({
    name: z.literal('failed'),
    code: z.enum(DEATHS),
    exit_code: z.nullable(exitCode),
  }),
])

/** A figure that makes no sense is unknown: no line waits because of it. */
const figure = (most: number) => z.catch(z.nullable(z.number().check(z.minimum(0), z.maximum(most))), null)
const [percent, bytes] = [figure(100), figure(1e15)]
const sample = z.object({
  at,
  gpu_percent: percent,
  gpu_memory_bytes: bytes,
  cpu_percent: percent,
  memory_bytes: bytes,
  disk_bytes: bytes,
  disk_total_bytes: bytes,
  sent_bytes: bytes,
  received_bytes: bytes,
  host_sent_bytes: bytes,
}) satisfies z.ZodMiniType<Sample>

const batch = z.object({
  // More than any run could have printed.
  first: z.int().check(z.minimum(1), z.maximum(1e12)),
  lines: z.array(z.object({ at, source: z.enum(LOG_SOURCES), text: z.string() })),
  samples: z.optional(z.array(sample).check(z.maxLength(60))),
  phase: z.optional(phase),
  complete: z.boolean(),
})

/**
 * Takes what a machine reports about its run. It costs the database nothing, except for what the run must know.
 * @param key what the machine got for its proof
 * @param read its batch, read once the key is known to count
 * @returns what it has by now, and how often it wants to hear
 * @throws unauthenticated, malformed, forbidden once the run is over, too_many
 */
export async function hearMachine(
  ctx: Context,
  key: RunKey | null,
  read: () => Promise<unknown>,
): Promise<{ next: number; every_seconds: number }> {
  if (!key || key.expiresAt <= ctx.now())
    throw new AppError('unauthenticated', 'This key has ended. Prove what you are again.')
  const { runId } = key
  const runLog = ctx.runLog(runId)
  const heard = await runLog.append(toBatch(await read()), ctx.now())
  if (heard === 'over') throw new AppError('forbidden', 'This run is over.')
  if (heard === 'too_many') throw new AppError('too_many', 'Too much at once.', { retryAfter: 1 })
  const { news, ...answer } = heard
  if (news) {
    // The machine repeats what isn't answered with 200, so nothing is lost if one of these fails.
    await actOn(ctx, runId, news)
    await runLog.acted(news)
  }
  return answer
}

function toBatch(said: unknown): LogBatch {
  const { success, data, error } = batch.safeParse(said)
  if (!success)
    throw new AppError('malformed', `The field "${error.issues[0]?.path.join('.')}" is missing or has the wrong type.`)
  return { ...data, phase: data.phase ?? null, samples: data.samples ?? [] }
}

/** What the database knows about the machine. Repeating it changes nothing. */
async function actOn(ctx: Context, runId: string, news: MachineNews): Promise<void> {
  const { phase, phaseAt, pull, diskNearlyFull, keepsEnding, sentBytes } = news
  const isLive = sql`id = ${runId} AND ended_at IS NULL`
  if (diskNearlyFull !== null) await noteDisk(ctx, isLive, diskNearlyFull)
  if (pull) await ctx.db.update(runs).set({ pull }).where(sql`${isLive} AND container_started_at IS NULL`)
  const change = phase && changeOf(phase, phaseAt)
  if (change) {
    const [run] = await ctx.db
      .update(runs)
      .set(change.set)
      .where(sql`${isLive} AND ${change.when}`)
      .returning({ userId: runs.userId, untilExit: runs.untilExit })
    // No start is waiting for a run that has answered, nor for its program's exit: its machine restarts the program.
    if (run && (run.untilExit || phase.name === 'failed')) await ctx.channel(run.userId).wake(run.userId)
  }
  if (keepsEnding) await tellOfExits(ctx, runId)
  if (sentBytes !== null) await alertOfTraffic(ctx, runId, sentBytes)
}

/** What a phase changes about its run, and on which condition. */
function changeOf(phase: MachinePhase, at: number) {
  if (phase.name === 'started') return { set: { containerStartedAt: at }, when: sql`container_started_at IS NULL` }
  if (phase.name === 'failed')
    return { set: { exitCode: phase.exit_code, diedOf: phase.code }, when: sql`died_of IS NULL` }
  if (phase.name !== 'exited') return null
  // The machine ran until then: its word is proven.
  const ended = {
    exitedAt: sql`CASE WHEN until_exit THEN ${at} END`,
    confirmedAt: sql`CASE WHEN until_exit THEN max(confirmed_at, ${at}) ELSE confirmed_at END`,
  }
  return { set: { exitCode: phase.exit_code, ...ended }, when: sql`exited_at IS NULL` }
}

async function noteDisk(ctx: Context, isLive: SQL, diskNearlyFull: boolean): Promise<void> {
  const [run] = await ctx.db
    .update(runs)
    .set({ diskNearlyFull })
    .where(sql`${isLive} AND disk_nearly_full <> ${diskNearlyFull}`)
    .returning()
  if (run) ctx.background(ctx.channel(run.userId).tellServer('server.updated', toServer(run, ctx.config)))
}

/** AWS charges for outgoing traffic, and reports it hours later. */
async function alertOfTraffic(ctx: Context, runId: string, sentBytes: number): Promise<void> {
  const [run] = await ctx.db.select({ userId: runs.userId }).from(runs).where(sql`id = ${runId}`)
  const { alertOperator } = await import('../../mail/alerts.ts')
  await alertOperator(ctx, {
    // We email a matter once an hour, and a fast server doubles sooner than that, so each doubling is its own matter.
    matter: `traffic:${runId}:${Math.floor(Math.log2(sentBytes))}`,
    subject: `A server has sent ${sizeText(sentBytes)}`,
    sentences: [
      `The server ${runId} of ${run?.userId} has sent ${sizeText(sentBytes)}. AWS takes about $0.09 for each GB that leaves it. You hear of this server again when that has doubled.`,
      'Its page in the console shows when. If it is misuse, suspend the account, and stop the server.',
    ],
    fields: { runId, userId: run?.userId, sentBytes },
  })
}

/** Once per run: its program restarts each time, and its user keeps paying. Before it answered, the start fails instead. */
async function tellOfExits(ctx: Context, runId: string): Promise<void> {
  const [run] = await ctx.db
    .select({ userId: runs.userId, exitCode: runs.exitCode })
    .from(runs)
    .where(sql`id = ${runId} AND ended_at IS NULL AND billed_from IS NOT NULL`)
  if (!run) return
  const message = keepsEndingNotice(siteOrigin(ctx), runId, run.exitCode)
  const [written] = await writeBatch(ctx.db, [noticeQuery(ctx, run.userId, message, { cause: `exits:${runId}` })])
  tellSoon(ctx, run.userId, written)
}
