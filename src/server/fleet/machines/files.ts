import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS, toIso } from '../../../domain/instant.ts'
import { filesModeOf, issueFilesCredentials } from '../../files/mode.ts'
import { limitMachine } from '../../limits/limits.ts'
import { type Context, serversKeepFiles } from '../../runtime/context.ts'
import { getRunOfMachine, type Identity } from './identity.ts'
import { publishesPorts } from './run-key.ts'

/** At least this long, and at most twice as long. Credentials can't be revoked, so a thief has them this long after the run's end. */
const SECONDS = 15 * 60
/** The machine requests new ones this long before they expire. */
const RENEW_EARLY_MS = 3 * MINUTE_MS

/** As AWS's programs read it from a `credential_process`, plus where the files are. */
export type MachineFiles = {
  Version: 1
  AccessKeyId: string
  SecretAccessKey: string
  SessionToken: string
  Expiration: string
  Endpoint: string
  Region: string
  Bucket: string
  /** Ends in a slash. */
  Prefix: string
  Mode: 'read' | 'write'
}

/**
 * Credentials for the files of the run's own account. Whether they may write is decided once in a run: files already
 * written must still get out.
 * @throws not_found, forbidden, too_many, unavailable
 */
export async function giveMachineFiles(
  ctx: Context,
  machine: Identity | null,
  address: string | null,
): Promise<MachineFiles> {
  if (!ctx.config.files) throw noFiles()
  const run = await getRunOfMachine(ctx, machine, address)
  if (!serversKeepFiles(ctx) && publishesPorts(run)) throw noFiles()
  await limitMachine(ctx, run.id)
  // First: while the bucket doesn't answer, people see what their server is waiting for.
  if (run.filesPhase === null)
    await ctx.db
      .update(runs)
      .set({ filesPhase: 'loading' })
      .where(and(eq(runs.id, run.id), isNull(runs.filesPhase)))
  const mode = run.filesMode ?? (await chooseMode(ctx, run))
  const given = await issueFilesCredentials(ctx, run.userId, { mode, seconds: SECONDS })
  return {
    Version: 1,
    AccessKeyId: given.accessKeyId,
    SecretAccessKey: given.secretAccessKey,
    SessionToken: given.sessionToken,
    Expiration: toIso(given.expiresAt - RENEW_EARLY_MS),
    Endpoint: given.endpoint,
    Region: given.region,
    Bucket: given.bucket,
    Prefix: given.prefix,
    Mode: mode,
  }
}

const noFiles = () => new AppError('not_found', 'Machines get no files here.')

async function chooseMode(ctx: Context, run: RunRow): Promise<'read' | 'write'> {
  const { mode, why } = await filesModeOf(ctx, run.userId)
  const [kept] = await ctx.db
    .update(runs)
    .set({
      filesMode: sql`coalesce(files_mode, ${mode})`,
      filesReadOnly: sql`CASE WHEN files_mode IS NULL THEN ${why} ELSE files_read_only END`,
    })
    .where(eq(runs.id, run.id))
    .returning({ mode: runs.filesMode })
  return kept?.mode ?? mode
}

/** What a machine may report, and after what. Anything else changes nothing. */
const SAID_AFTER = {
  loaded: and(eq(runs.filesPhase, 'loading'), isNull(runs.billedFrom)),
  failed: and(sql`(files_phase IS NULL OR files_phase = 'loading')`, isNull(runs.billedFrom)),
  saved: and(inArray(runs.filesPhase, ['loading', 'loaded']), isNotNull(runs.stopRequestedAt)),
}

export type Said = keyof typeof SAID_AFTER

/** @throws not_found, forbidden, too_many */
export async function hearMachine(
  ctx: Context,
  machine: Identity | null,
  said: Said,
  address: string | null,
): Promise<void> {
  const run = await getRunOfMachine(ctx, machine, address)
  await limitMachine(ctx, run.id)
  await ctx.db
    .update(runs)
    .set({ filesPhase: said })
    .where(and(eq(runs.id, run.id), isNull(runs.endedAt), SAID_AFTER[said]))
}
