import type { RunRow } from '../../../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { isSignature, signatureOf } from '../../crypto/keys.ts'
import { limitMachine } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { openLoginOf, openSecretsOf } from '../secrets.ts'
import { getRunOfMachine, type Identity } from './identity.ts'

const LIFETIME_MS = 15 * MINUTE_MS

/**
 * What a machine gets for its proof: a key for its run alone, which we can check without a read, and its container's
 * parameters and secrets.
 * @throws forbidden, too_many
 */
export async function giveRunKey(ctx: Context, machine: Identity | null, address: string | null) {
  const row = await getRunOfMachine(ctx, machine, address)
  const { id: run, untilExit, command, parameters } = row
  await limitMachine(ctx, run)
  const secrets = await openSecretsOf(ctx, row)
  const registry = await openLoginOf(ctx, row)
  const expiresAt = ctx.now() + LIFETIME_MS
  const program = {
    parameters: parameters ?? {},
    secrets,
    registry,
    until: untilExit ? 'exit' : null,
    command,
    publish: publishesPorts(row),
  }
  return { key: runKeyUntil(ctx.config.secretKey, run, expiresAt), expiresAt, run, program }
}

/** A run that ends with its program needs no port. Where anyone could reach it past its door, it has none. */
export function publishesPorts({ untilExit, doorLabel }: Pick<RunRow, 'untilExit' | 'doorLabel'>): boolean {
  return !untilExit || doorLabel !== null
}

export function runKeyUntil(secretKey: string, runId: string, expiresAt: number): string {
  const claim = `${runId}.${expiresAt}`
  return `${claim}.${signatureOf(secretKey, 'run', claim).toString('base64url')}`
}

/** Until it expires, its machine speaks for the run. */
export type RunKey = { runId: string; expiresAt: number }

/** Null if we didn't sign it. */
export function readRunKey(secretKey: string, key: string): RunKey | null {
  const [runId = '', expiresAt = '', signature = ''] = key.split('.')
  const isOurs = isSignature(Buffer.from(signature, 'base64url'), secretKey, 'run', `${runId}.${expiresAt}`)
  return isOurs ? { runId, expiresAt: Number(expiresAt) } : null
}
