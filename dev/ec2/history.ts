import { type Instance, toldEnd, toldTime } from './instance.ts'

/** When an instance ran, in ms of the stack's clock. Null means not yet, or never. */
export type InstanceRecord = {
  instanceId: string
  clientToken: string | null
  instanceType: string
  availabilityZone: string
  tags: Record<string, string>
  launchedAt: number
  runningAt: number | null
  /** When it stopped running and AWS would stop billing. */
  shuttingDownAt: number | null
  terminatedAt: number | null
  /** What EC2 writes about it, by its own clock. */
  toldLaunch: number
  toldEnd: number | null
}

/** The instance's history up to now. */
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
    toldLaunch: toldTime(instance.launchedAt, instance),
    toldEnd: toldEnd(instance),
  }
}
