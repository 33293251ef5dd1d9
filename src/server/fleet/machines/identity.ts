import { and, desc, eq, isNull } from 'drizzle-orm'
import { launches, type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'
import type { MachineSettings } from '../../settings/machine-settings.ts'
import { isPrivateAddress } from '../machine.ts'

/** EC2's instance identity document and Amazon's signature of it, both in base64. */
export type Proof = { document: string; signature: string }

/** One of our machines, as Amazon signed it. */
export type Identity = { accountId: string; region: string; instanceId: string; pendingTime: string }

/** EC2 writes the same launch time into the document as into its answers, in whole seconds. */
const SAME_LAUNCH_MS = MINUTE_MS

/**
 * The live run whose machine this is. The document never changes, so anyone who reads it on the machine could send it
 * from elsewhere: it counts only from the machine's own address, and only until the run's end.
 * @param address where the request comes from, as the network reports it
 * @throws forbidden
 */
export async function getRunOfMachine(
  ctx: Context,
  identity: Identity | null,
  address: string | null,
): Promise<RunRow> {
  const run = identity && (await findRunOfMachine(ctx, identity, address))
  // A warm machine first asks for its work. Until EC2's tags say whose it is, it may belong to another run: a
  // restored database can be wrong.
  if (!run || (run.warm && run.workGivenAt === null)) throw refused()
  return run
}

/** The same for a machine that may not have heard of its run; null if no live run has it. @throws forbidden */
export async function findRunOfMachine(
  ctx: Context,
  identity: Identity,
  address: string | null,
): Promise<RunRow | null> {
  const [found] = await ctx.db
    .select({ run: runs, launchedAt: launches.launchedAt })
    .from(runs)
    .innerJoin(launches, and(eq(launches.runId, runs.id), eq(launches.instanceId, identity.instanceId)))
    .where(and(eq(runs.instanceId, identity.instanceId), isNull(runs.endedAt)))
    .orderBy(desc(launches.createdAt))
    .limit(1)
  if (!found) return null
  if (!isSameLaunch(identity, found.launchedAt)) throw refused()
  const { run } = found
  // Before we have seen it run, no customer's program runs there, so nobody else can have its document. Without a
  // public address of its own, it calls from a shared one.
  if (run.ipAddress !== null && !isPrivateAddress(run.ipAddress) && run.ipAddress !== address) throw refused()
  return run
}

export function isSameLaunch({ pendingTime }: Identity, launchedAt: number | null): boolean {
  return launchedAt !== null && Math.abs(Date.parse(pendingTime) - launchedAt) < SAME_LAUNCH_MS
}

/** @returns null unless Amazon signed it, for this account and region */
export async function readIdentity(
  { publicKey, accountId, region }: MachineSettings,
  { document, signature }: Proof,
): Promise<Identity | null> {
  const [signed, by] = [bytesOf(document), bytesOf(signature)]
  if (!signed || !by) return null
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('spki', publicKey, algorithm, false, ['verify'])
  if (!(await crypto.subtle.verify(algorithm, key, by, signed))) return null
  const identity = JSON.parse(new TextDecoder().decode(signed)) as Identity
  return identity.accountId === accountId && identity.region === region ? identity : null
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

/** The same for every reason: a stranger learns nothing about our machines. */
export const refused = () => new AppError('forbidden', 'This is not the machine of a server that runs.')
