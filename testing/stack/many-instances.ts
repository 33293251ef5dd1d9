import { join } from 'node:path'
import { openDatabase, writeBatch } from '../../db/client.ts'
import { runs, users } from '../../db/schema.ts'
import type { Instance as KeptInstance } from '../../dev/ec2/instance.ts'
import { openEc2Store } from '../../dev/ec2/stand-in.ts'
import type { Instance } from '../../src/domain/wire.ts'

const TYPES = ['g6.4xlarge', 'g6.12xlarge']
const CYCLE = ['running', 'pending', 'shutting-down', 'terminated'] as const
const MINUTE = 60_000

const runId = (i: number) => `ses_run-${String(i).padStart(5, '0')}`
const instanceId = (i: number) => `i-${(0x1000 + i).toString(16).padStart(17, '0')}`
const ownerEmail = (i: number) => `pilot-${i % 40}@example.com`
const launchedAt = (i: number, now: number) => now - (i + 1) * 7 * MINUTE

/** What the console's call returns for a fleet of that size. */
export function manyInstances(count: number, now: number): Instance[] {
  return Array.from({ length: count }, (_, i) => {
    const state = i % 10 ? 'running' : (CYCLE[(i / 10) % CYCLE.length] as string)
    return {
      instance_id: instanceId(i),
      name: `proving-ground ${runId(i)}`,
      instance_type: TYPES[i % 2] as string,
      state,
      status_check: ['ok', 'initializing', 'impaired', 'insufficient-data', null][i % 17] ?? 'ok',
      private_ip: `172.31.${i >> 8}.${i & 255}`,
      public_ip: `127.${i >> 8}.${i & 255}.1`,
      launch_time: new Date(launchedAt(i, now)).toISOString(),
      run_id: runId(i),
      owner_id: `user_pilot-${i}`,
      owner_email: ownerEmail(i),
      cost_dollars: (i * 7 * 60 * 4861) / 1e7,
    }
  })
}

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
