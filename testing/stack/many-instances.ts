import { join } from 'node:path'
import { openDatabase, writeBatch } from '../../db/client.ts'
import { users } from '../../db/schema/accounts.ts'
import { runs } from '../../db/schema/fleet.ts'
import type { Instance as KeptInstance } from '../../dev/ec2/instance.ts'
import { openEc2Store } from '../../dev/ec2/stand-in.ts'
import { CYCLE, instanceId, launchedAt, MINUTE, ownerEmail, runId, TYPES } from '../instances.ts'

/**
 * Makes a stack find this many instances in its EC2 at startup. Few of them run, because each running one opens its
 * own page.
 */
export function keepInstances(dataDir: string, count: number, now: number): void {
  const store = openEc2Store(join(dataDir, 'ec2'))
  for (let i = 0; i < count; i++) {
    const state = i < 12 && i % 5 ? 'running' : (CYCLE[1 + (i % 3)] as (typeof CYCLE)[number])
    const at = launchedAt(i, now)
    const instance: KeptInstance = {
      id: instanceId(i),
      reservationId: `r-${i}`,
      sequence: i + 1,
      launchIndex: 0,
      clientToken: null,
      tokenZone: null,
      fingerprint: '',
      instanceType: TYPES[i % 2] as string,
      imageId: 'ami-1',
      availabilityZone: 'us-east-1a',
      tags: { Name: `proving-ground ${runId(i)}`, app: 'proving-ground', session: runId(i) },
      slot: 40_000 + i,
      launchedAt: at,
      runsFrom: state === 'pending' ? now + 999 * MINUTE : at + 3_000,
      shutDownAt: state === 'shutting-down' || state === 'terminated' ? at + 2 * MINUTE : null,
      terminatedFrom: state === 'terminated' ? now : state === 'shutting-down' ? now + 999 * MINUTE : null,
      stateReason: null,
    }
    store.put('instances', instance.id, instance)
  }
  store.commit()
}

/** The runs of the first `count` of those instances, each its owner's only live one. */
export async function keepRuns(databaseUrl: string, count: number, now: number): Promise<void> {
  const db = openDatabase(databaseUrl)
  const rows = Array.from({ length: count }, (_, i) => i)
  await writeBatch(db, [
    db
      .insert(users)
      .values(
        rows.map((i) => ({
          id: `user_pilot-${i}`,
          email: ownerEmail(i),
          name: `Pilot ${i}`,
          passwordHash: '',
          confirmedAt: now,
          createdAt: now,
        })),
      )
      .onConflictDoNothing(),
    db.insert(runs).values(
      rows.map((i) => ({
        id: runId(i),
        userId: `user_pilot-${i}`,
        placeId: 'srv_place-1',
        instanceType: TYPES[i % 2] as string,
        requestedAt: launchedAt(i, now),
        runningAt: launchedAt(i, now) + 3_000,
        billedFrom: launchedAt(i, now) + 3_000,
        confirmedAt: now + 999 * MINUTE,
        instanceId: instanceId(i),
      })),
    ),
  ])
}
