import type { Instance } from '../src/domain/wire/fleet.ts'

export const TYPES = ['g6.4xlarge', 'g6.12xlarge']
export const CYCLE = ['running', 'pending', 'shutting-down', 'terminated'] as const
export const MINUTE = 60_000

export const runId = (i: number) => `ses_run-${String(i).padStart(5, '0')}`
export const instanceId = (i: number) => `i-${(0x1000 + i).toString(16).padStart(17, '0')}`
export const ownerEmail = (i: number) => `pilot-${i % 40}@example.com`
export const launchedAt = (i: number, now: number) => now - (i + 1) * 7 * MINUTE

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
      environment: 'Blocks',
      vehicle: 'uav',
      cost_dollars: (i * 7 * 60 * 4861) / 1e7,
    }
  })
}
