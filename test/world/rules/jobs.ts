import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { FLEET } from '../../../src/server/ports/objects.ts'
import type { World } from '../world.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

const isTerminal = (status: string) => status === 'succeeded' || status === 'failed'

export const JOBS_RULES: Rule[] = [
  {
    name: 'jobs-move-on',
    sentence:
      'A job is queued, then running, then succeeded or failed, ends within 30 quiet minutes, and then never changes.',
    broken: ({ world, rows, memory }) =>
      rows.jobs.flatMap((job) => {
        const before = memory.jobs.get(job.id)
        const rank = (status: string) => (isTerminal(status) ? 2 : status === 'running' ? 1 : 0)
        const since = memory.since(`unfinished ${job.id}`, !isTerminal(job.status))
        return [
          ...(before && rank(job.status) < rank(before.status) ? [`${job.kind} went back to ${job.status}`] : []),
          ...(before && isTerminal(before.status) && JSON.stringify(before) !== JSON.stringify(job)
            ? [`${job.kind} ${job.id} changed after its end`]
            : []),
          ...(before?.errorCode != null && before.errorCode !== job.errorCode
            ? [`${job.kind} failed with ${before.errorCode}, then with ${job.errorCode}`]
            : []),
          ...(isTerminal(job.status) !== (job.runAt === null)
            ? [`${job.kind} is ${job.status}, due ${iso(job.runAt)}`]
            : []),
          ...(since !== null && isOverdue(world, 'fleet', since, 30 * MINUTE_MS)
            ? [`${job.kind} is ${job.status}`]
            : []),
        ]
      }),
  },
  {
    name: 'people-are-told-the-end-once',
    sentence: 'Nobody reads that a finished job is unfinished, or that it ended in two ways.',
    broken: ({ world, memory }) =>
      memory
        .newlyPublished(world.alarms.published)
        .flatMap(({ job, before }) =>
          before !== undefined && isTerminal(before) && before !== job.status
            ? [`${job.id} was ${before}, then ${job.status}`]
            : [],
        ),
  },
  {
    name: 'due-work-is-looked-at',
    sentence: 'We look at a due job within 90 quiet seconds, without the sweep.',
    broken: ({ world, rows }) =>
      rows.jobs.flatMap((job) =>
        job.runAt !== null && isNeglected(world, job.userId, job.runAt, 90_000)
          ? [`${job.kind} ${job.id} is ${job.status}, due ${iso(job.runAt)}`]
          : [],
      ),
  },
  {
    name: 'servers-are-watched',
    sentence: 'While a server runs, we ask EC2 about it at least every 2 quiet minutes, without the sweep.',
    broken: ({ world, rows }) =>
      rows.runs.flatMap((run) => {
        if (run.runningAt === null || run.stopRequestedAt !== null || run.endedAt !== null) return []
        const since = Math.max(run.runningAt, world.ec2.looked.at)
        return isNeglected(world, FLEET, since, 2 * MINUTE_MS) ? [`${run.id} was last looked at ${iso(since)}`] : []
      }),
  },
  {
    name: 'work-begins-at-once',
    sentence: 'In quiet times, we begin a start or a stop within 20 seconds.',
    broken: ({ world, rows }) =>
      rows.jobs.flatMap((job) => {
        if (world.weather !== 'calm' || world.calm.since.fleet > job.createdAt) return []
        const [, ms] = rows.witnessed
          .filter(({ id }) => id === job.id)
          .flatMap(({ what }) => /^taken up after (\d+)/.exec(what) ?? [])
        const until = job.createdAt + Number(ms ?? 0)
        const waited =
          world.receivers.silence(job.createdAt, until) + world.alarms.heldUp(job.userId, job.createdAt, until)
        return Number(ms ?? 0) > 20_000 + waited ? [`${job.kind} ${job.id} began after ${ms} ms`] : []
      }),
  },
]

/** Whether it has been calm for longer than the bound, not counting how long an alarm was late or waited for others. */
function isNeglected(world: World, userId: string, since: number, boundMs: number): boolean {
  const now = world.clock.ms
  const ms = world.calm.forMs('fleet', since)
  return ms > boundMs && ms - world.alarms.heldUp(userId, now - ms, now) > boundMs
}
