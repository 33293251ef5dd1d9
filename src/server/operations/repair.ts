import { eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { LONGEST_START_MS } from '../../domain/image-pull.ts'
import { getAllowance } from '../billing/allowance.ts'
import { endReasonAt } from '../fleet/jobs/ends.ts'
import type { CloudInstance } from '../ports/cloud.ts'
import { auditQuery } from '../runtime/audit.ts'
import type { Context } from '../runtime/context.ts'
import { begunAt, type Hand, type Repair } from './restore.ts'

const BY = { id: 'script', reason: 'The database was restored.' }

/** Makes one repair. Safe to repeat. */
export async function repair(hand: Hand, { what, instanceId, runId, instance }: Repair): Promise<void> {
  if (what === 'leave') return
  if (what === 'end_instance') return endInstance(hand, instanceId ?? '')
  if (what === 'end_run') return endRun(hand, runId ?? '', instance)
  if (instance) return what === 'adopt' ? adopt(hand, instance) : bill(hand, instance)
}

/**
 * Since when we may bill a server whose meter reading we lost. We stop servers whose image doesn't load or that don't
 * answer in time, so an older one has answered. Earlier seconds stay free: we can't prove them.
 */
function meterStart(instance: CloudInstance, until: number): number | null {
  const begun = begunAt(instance)
  const from = begun === null ? null : begun + LONGEST_START_MS
  return from !== null && from < until ? from : null
}

async function endInstance({ db, now, cloud }: Hand, instanceId: string): Promise<void> {
  await writeBatch(db, [auditQuery({ db, now, by: BY }, { act: 'end_instance', subject: instanceId })])
  await cloud.terminate(instanceId)
}

/** Ends it when EC2 says that it ended, or when the backup last saw it. */
async function endRun({ db, now }: Hand, runId: string, instance: CloudInstance | null): Promise<void> {
  const at = now()
  const [run] = await db.select().from(runs).where(eq(runs.id, runId))
  if (!run || run.endedAt !== null) return
  const until = Math.min(at, instance?.endedAt ?? run.confirmedAt ?? run.requestedAt)
  const billedFrom = run.billedFrom ?? (instance ? meterStart(instance, until) : null)
  const meteredUntil = billedFrom === null ? null : (run.meteredUntil ?? meterEnd(run, billedFrom, until))
  const open = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId} AND ended_at IS NULL)`
  await writeBatch(db, [
    auditQuery(
      { db, now, by: BY },
      { act: 'end_lost_run', subject: runId, userId: run.userId, detail: { instance: run.instanceId, meteredUntil } },
      open,
    ),
    db.run(
      sql`UPDATE launches SET outcome = 'gone' WHERE session_id = ${runId} AND coalesce(outcome, 'launched') = 'launched'`,
    ),
    db.run(sql`UPDATE servers SET reserved_by = NULL, reserved_at = NULL WHERE reserved_by = ${runId}`),
    db.run(sql`UPDATE jobs SET run_at = NULL, updated_at = ${at}, error_message = 'Your server has stopped.',
      error_code = 'stopped', status = 'failed' WHERE session_id = ${runId} AND run_at IS NOT NULL`),
    db.run(sql`UPDATE server_sessions SET ended_at = ${at}, stop_requested_at = coalesce(stop_requested_at, ${until}),
      running_at = coalesce(running_at, ${billedFrom}), billed_from = ${billedFrom}, metered_until = ${meteredUntil},
      ended_because = coalesce(ended_because, ${endReasonAt(until, until)})
      WHERE id = ${runId} AND ended_at IS NULL`),
  ])
}

const meterEnd = ({ mustStopAt }: Pick<RunRow, 'mustStopAt'>, from: number, until: number) =>
  Math.max(from, Math.min(until, mustStopAt ?? until))

/** Gives a running server back to its owner: they see it, can stop it, and pay for it. */
async function adopt(hand: Hand, instance: CloudInstance): Promise<void> {
  const { db, now } = hand
  const at = now()
  const [runId, userId] = [instance.tags.session ?? '', instance.tags.user ?? '']
  const billedFrom = meterStart(instance, at)
  const mustStopAt = billedFrom === null ? null : await trialEnd(hand, userId, billedFrom)
  const isReady = billedFrom !== null
  const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId})`
  await writeBatch(db, [
    insertRun(hand, instance, { billedFrom, mustStopAt, until: null }),
    insertLaunch(hand, instance, 'launched'),
    notWarm(hand, instance),
    db.run(sql`UPDATE servers SET reserved_by = ${runId}, reserved_at = ${at} WHERE reserved_by IS NULL
      AND id = (SELECT server_id FROM server_sessions WHERE id = ${runId})`),
    // A young one still has to answer: its start continues.
    db.run(sql`INSERT INTO jobs (id, user_id, session_id, kind, status, progress, run_at, created_at, updated_at)
      SELECT ${`job_${runId}`}, ${userId}, ${runId}, 'server_start', 'queued', 'Booting…', ${at}, ${at}, ${at}
      WHERE ${isReady ? 0 : 1} AND ${when} ON CONFLICT DO NOTHING`),
    auditQuery(
      { db, now, by: BY },
      { act: 'adopt_run', subject: runId, userId, detail: { instance: instance.id, billedFrom } },
      when,
    ),
  ])
}

/** A run that began and ended after the backup. */
async function bill(hand: Hand, instance: CloudInstance): Promise<void> {
  const { db, now } = hand
  const [runId, userId] = [instance.tags.session ?? '', instance.tags.user ?? '']
  const until = instance.endedAt ?? begunAt(instance) ?? now()
  const billedFrom = meterStart(instance, until)
  const mustStopAt = billedFrom === null ? null : await trialEnd(hand, userId, billedFrom)
  await writeBatch(db, [
    insertRun(hand, instance, { billedFrom, mustStopAt, until }),
    insertLaunch(hand, instance, 'gone'),
    notWarm(hand, instance),
    auditQuery(
      { db, now, by: BY },
      { act: 'adopt_run', subject: runId, userId, detail: { instance: instance.id, billedFrom, until } },
    ),
  ])
}

async function trialEnd(hand: Hand, userId: string, billedFrom: number): Promise<number | null> {
  const { trialSeconds } = await getAllowance(hand as Context, userId)
  return trialSeconds === null ? null : (Math.ceil(billedFrom / 1000) + trialSeconds) * 1000
}

/** In the backup, it was still waiting for a run. */
function notWarm({ db }: Hand, { token }: CloudInstance) {
  return db.run(sql`DELETE FROM warm_machines WHERE token = ${token}`)
}

type Meter = { billedFrom: number | null; mustStopAt: number | null; until: number | null }

/** In a place of its type, preferably a free one. Writes nothing if it exists, or its owner has another live run. */
function insertRun({ db, now }: Hand, instance: CloudInstance, { billedFrom, mustStopAt, until }: Meter) {
  const { id, type, publicIp, tags } = instance
  const requestedAt = begunAt(instance) ?? now()
  const isOver = until !== null
  const meteredUntil = isOver && billedFrom !== null ? meterEnd({ mustStopAt }, billedFrom, until) : null
  const because = until !== null && mustStopAt !== null && until >= mustStopAt ? 'trial_over' : 'you'
  return db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, requested_at, running_at, billed_from,
      confirmed_at, must_stop_at, stop_requested_at, metered_until, ended_at, ended_because, instance_id, ip_address, environment, vehicle, in_trial)
    SELECT ${tags.session}, ${users.id}, place.id, ${type}, ${requestedAt}, ${billedFrom}, ${billedFrom},
      ${billedFrom === null ? null : (until ?? now())}, ${mustStopAt}, ${until}, ${meteredUntil}, ${until}, ${isOver ? because : null}, ${id}, ${publicIp},
      ${tags.environment ?? null}, ${tags.vehicle ?? null}, ${mustStopAt !== null}
    FROM ${users}, (SELECT id FROM servers ORDER BY instance_type = ${type} DESC, reserved_by IS NULL DESC, retired_at IS NULL DESC,
      position LIMIT 1) AS place
    WHERE ${users.id} = ${tags.user} AND (${isOver ? 1 : 0}
      OR NOT EXISTS (SELECT 1 FROM server_sessions WHERE user_id = ${tags.user} AND ended_at IS NULL))
    ON CONFLICT DO NOTHING`)
}

function insertLaunch({ db, now }: Hand, instance: CloudInstance, outcome: 'launched' | 'gone') {
  const { id, token, tags, launchTime, endedAt, endReason } = instance
  return db.run(sql`INSERT INTO launches (token, session_id, server_id, created_at, instance_id, outcome, launched_at,
      ended_at, end_reason)
    SELECT ${token ?? id}, id, server_id, ${launchTime ?? now()}, ${id}, ${outcome}, ${launchTime},
      ${outcome === 'gone' ? endedAt : null}, ${outcome === 'gone' ? endReason : null} FROM server_sessions
    WHERE id = ${tags.session} ON CONFLICT DO NOTHING`)
}
