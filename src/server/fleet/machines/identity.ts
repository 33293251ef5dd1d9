import { and, desc, eq, isNull } from 'drizzle-orm'
import { launches, type RunRow, runs } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'
import type { MachineSettings } from '../../settings/machine-settings.ts'
import { isPrivateAddress } from '../machine.ts'

/** EC2's instance identity document and Amazon's signature of it, both in base64. */
export type Proof = { document: string; signature: string }

type Identity = { accountId: string; region: string; instanceId: string; pendingTime: string }

/** EC2 writes the same launch time into the document as into its answers, in whole seconds. */
const SAME_LAUNCH_MS = MINUTE_MS

/**
 * The live run whose machine this is. The document never changes, so whoever reads it on the machine could send it from
 * elsewhere: it counts only from the machine's own address, and only until the run's end.
 * @param address where the request comes from, as the network reports it
 * @throws forbidden
 */
export async function getRunOfMachine(ctx: Context, proof: Proof, address: string | null): Promise<RunRow> {
  const { machines } = ctx.config
  const identity = await readIdentity(machines, proof)
  if (!identity) throw refused()
  const [found] = await ctx.db
    .select({ run: runs, launchedAt: launches.launchedAt })
    .from(runs)
    .innerJoin(launches, and(eq(launches.runId, runs.id), eq(launches.instanceId, identity.instanceId)))
    .where(and(eq(runs.instanceId, identity.instanceId), isNull(runs.endedAt)))
    .orderBy(desc(launches.createdAt))
    .limit(1)
  if (!found || found.launchedAt === null) throw refused()
  if (!(Math.abs(Date.parse(identity.pendingTime) - found.launchedAt) < SAME_LAUNCH_MS)) throw refused()
  const { run } = found
  // Before we have seen it run, nothing of a customer's runs there, so nobody else can have its document. Without a public
  // address of its own, it calls from one that others share.
  if (run.ipAddress !== null && !isPrivateAddress(run.ipAddress) && run.ipAddress !== address) throw refused()
  return run
}

/** Null unless Amazon signed it, for this account and region. */
async function readIdentity(
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
const refused = () => new AppError('forbidden', 'This is not the machine of a server that runs.')
