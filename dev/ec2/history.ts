import type { Instance } from './instance.ts'

/** How long an instance ran, in ms of the stack's clock; null for what has not happened (yet, or ever). */
export type InstanceRecord = {
  instanceId: string
  clientToken: string | null
  instanceType: string
  availabilityZone: string
  tags: Record<string, string>
  launchedAt: number
  runningAt: number | null
  /** The end of running, and of what AWS would bill. */
  shuttingDownAt: number | null
  terminatedAt: number | null
}

/** What has happened of it by now. */
export function recordOf(instance: Instance, now: number): InstanceRecord {
  const { shutDownAt, runsFrom } = instance
  const past = (moment: number | null) => (moment !== null && moment <= now ? moment : null)
  return {
    instanceId: instance.id,
    clientToken: instance.clientToken,
    instanceType: instance.instanceType,
    availabilityZone: instance.availabilityZone,
    tags: instance.tags,
    launchedAt: instance.launchedAt,
    runningAt: shutDownAt === null || shutDownAt >= runsFrom ? past(runsFrom) : null,
    shuttingDownAt: past(shutDownAt),
    terminatedAt: past(instance.terminatedFrom),
  }
}
