import { MINUTE_MS } from '../../../src/domain/instant.ts'
import type { Rows } from '../database.ts'
import { isOverdue, iso, type Rule, wasUnseen } from './rule.ts'

/** As the product promises: see docs/billing.md. */
const MISSED_LOOKS = 3
const MOST_UNSEEN = 2
const MOST_DEAD = 3

function isGivenUp(token: string | null, rows: Rows): boolean {
  return rows.launches.some(
    (launch) => launch.token === token && (launch.outcome === 'refused' || launch.outcome === 'gone'),
  )
}

export const FLEET_RULES: Rule[] = [
  {
    name: 'one-live-run',
    sentence: 'A person has at most one live run, and at most one instance that we have not given up.',
    broken: ({ world, rows, people }) =>
      people.flatMap(({ user }) => {
        const live = rows.runs.filter((run) => run.userId === user.id && run.endedAt === null)
        const kept = world.ec2.alive().filter((one) => one.tags.user === user.id && !isGivenUp(one.clientToken, rows))
        return [
          ...(live.length > 1 ? [`${user.name} has ${live.length} live runs`] : []),
          ...(kept.length > 1 ? [`${user.name} has ${kept.length} instances: ${kept.map(({ id }) => id)}`] : []),
        ]
      }),
  },
  {
    name: 'no-orphans',
    sentence: 'Every running instance belongs to a live run, waits for one, or ends within 10 quiet minutes.',
    broken: ({ world, rows, memory }) =>
      world.ec2.alive().flatMap((one) => {
        const run = rows.runs.find(({ id }) => id === one.tags.session)
        const waits = rows.warm.some(({ token, endedAt }) => token === one.clientToken && endedAt === null)
        const owned = waits || (run?.endedAt === null && !isGivenUp(one.clientToken, rows))
        const since = memory.since(`orphan ${one.id}`, !owned)
        return since !== null && isOverdue(world, 'fleet', since, 10 * MINUTE_MS)
          ? [`${one.id} since ${iso(since)}`]
          : []
      }),
  },
  {
    name: 'places-are-held-by-live-runs',
    sentence:
      'Every live run holds its place, and every held place belongs to a live run, to someone in line, or to a warm machine that we end.',
    broken: ({ rows }) => [
      ...rows.places.flatMap((place) => {
        if (place.reservedBy === null || rows.line.some(({ userId }) => userId === place.reservedBy)) return []
        const ending = rows.warm.find(({ token }) => token === place.reservedBy)
        if (ending?.endingAt && ending.endedAt === null && ending.placeId === place.id) return []
        const run = rows.runs.find(({ id }) => id === place.reservedBy)
        return run?.endedAt === null && run.placeId === place.id ? [] : [`${place.id} is held by ${place.reservedBy}`]
      }),
      ...rows.runs.flatMap((run) => {
        const place = rows.places.find(({ id }) => id === run.placeId)
        return run.endedAt === null && place?.reservedBy !== run.id ? [`${run.id} does not hold ${run.placeId}`] : []
      }),
    ],
  },
  {
    name: 'lost-servers-are-noticed',
    sentence: 'A server that EC2 ended is stopped here within 6 quiet minutes.',
    broken: ({ world, rows, now }) =>
      world.ec2.records().flatMap((record) => {
        const run = rows.runs.find(({ instanceId }) => instanceId === record.instanceId)
        const since = record.shuttingDownAt
        return run &&
          since !== null &&
          run.stopRequestedAt === null &&
          run.runningAt !== null &&
          since <= now &&
          isOverdue(world, 'fleet', since, 6 * MINUTE_MS)
          ? [`${run.id}, whose instance ended ${iso(since)}`]
          : []
      }),
  },
  {
    name: 'only-lost-servers-count-as-lost',
    sentence:
      'A server counts as lost if EC2 ended it, or if EC2 failed to find it three times, and at most two servers at once.',
    broken: ({ world, rows }) =>
      rows.witnessed.flatMap(({ what, id }) => {
        const [, looks, unseen] = /^loss after (\d+) looks, (\d+) unseen/.exec(what) ?? []
        if (looks === undefined) return []
        const run = rows.runs.find((one) => one.id === id)
        const record = world.ec2.records().find(({ instanceId }) => instanceId === run?.instanceId)
        if ((record?.shuttingDownAt ?? Infinity) <= (run?.stopRequestedAt ?? 0)) return []
        return Number(looks) < MISSED_LOOKS || Number(unseen) > MOST_UNSEEN ? [`${id}: ${what}`] : []
      }),
  },
  {
    name: 'servers-run-until-they-are-stopped',
    sentence: 'We terminate an instance only after its stop was accepted, or its start failed or gave it up.',
    broken: ({ world, rows }) =>
      world.ec2.records().flatMap(({ instanceId, clientToken, tags, shuttingDownAt, toldEnd }) => {
        const run = rows.runs.find(({ id }) => id === tags.session)
        // EC2 names an end only where someone called for it: not where the machine died, even before our next look.
        const isOurs = toldEnd !== null && !world.ec2.vanished.has(instanceId)
        if (!run || shuttingDownAt === null || !isOurs) return []
        const hasFailed = rows.jobs.some(
          (job) => job.runId === run.id && job.kind === 'server_start' && job.errorCode !== null,
        )
        return (run.stopRequestedAt ?? Infinity) <= shuttingDownAt || hasFailed || isGivenUp(clientToken, rows)
          ? []
          : [`${instanceId} of ${run.id} ended ${iso(shuttingDownAt)}, its stop was ${iso(run.stopRequestedAt)}`]
      }),
  },
  {
    name: 'every-stop-has-a-cause',
    sentence:
      'A server stops because its user asked or set that end, because its program, its trial, or its account ended, or for a reason that we give.',
    broken: ({ world, rows, people }) =>
      rows.jobs.flatMap((job) => {
        if (job.kind !== 'server_stop' || job.errorCode !== null) return []
        const run = rows.runs.find(({ id }) => id === job.runId)
        const owner = people.find(({ user }) => user.id === job.userId)
        const isOver = Math.min(run?.mustStopAt ?? Infinity, run?.endsAt ?? Infinity) <= job.createdAt
        const hasExited = run?.untilExit && world.programs.of(run)?.exit
        return isOver || hasExited || owner?.closes || owner?.asked.has(job.runId) ? [] : [`${job.runId} was stopped`]
      }),
  },
  {
    name: 'ended-runs-have-no-instance',
    sentence: 'A run ends once its instance is terminated, or EC2 failed to find it three times.',
    broken: ({ world, rows }) =>
      world.ec2.records().flatMap(({ instanceId, clientToken, tags, launchedAt, terminatedAt }) => {
        const run = rows.runs.find(({ id }) => id === tags.session)
        const launch = rows.launches.find(({ token }) => token === clientToken)
        if (!run || run.endedAt === null || launch?.outcome === 'refused' || wasUnseen(rows, run.id, MISSED_LOOKS))
          return []
        return launchedAt < run.endedAt && (terminatedAt ?? Infinity) > run.endedAt
          ? [`${run.id} ended ${iso(run.endedAt)}, ${instanceId} ${iso(terminatedAt)}`]
          : []
      }),
  },
  {
    name: 'places-rest-after-a-refusal',
    sentence: 'A place that EC2 refused is not offered for 10 minutes, and a retired one never.',
    broken: ({ world, rows }) => [
      ...rows.launches.flatMap((refused) =>
        refused.outcome !== 'refused' || !world.ec2.refusedPlaces.has(refused.token)
          ? []
          : rows.launches
              .filter(({ placeId, createdAt }) => placeId === refused.placeId && createdAt > refused.createdAt)
              .filter(
                ({ runId, createdAt }) => runId !== refused.runId && createdAt < refused.createdAt + 10 * MINUTE_MS,
              )
              .map(({ token }) => `${token} is launched in ${refused.placeId}, refused ${iso(refused.createdAt)}`),
      ),
      ...rows.places.flatMap(({ id, retiredAt }) =>
        rows.runs
          .filter((run) => run.placeId === id && retiredAt !== null && run.requestedAt > retiredAt + MINUTE_MS)
          .map((run) => `${run.id} is in ${id}, retired ${iso(retiredAt)}`),
      ),
    ],
  },
  {
    name: 'what-dies-before-it-runs-is-refused',
    sentence:
      'A machine that EC2 ends before it runs is a refusal of its place: the start continues in another one, at most three times.',
    broken: ({ world, rows }) => {
      const dead = world.ec2.all().filter(({ dies, id }) => dies && !world.ec2.vanished.has(id))
      const ofRun = (run: string) => dead.filter(({ tags }) => tags.session === run)
      return rows.jobs.flatMap(({ kind, runId, errorCode }) => [
        ...(kind === 'server_start' &&
        errorCode === 'instance_lost' &&
        ofRun(runId).length &&
        !wasUnseen(rows, runId, MISSED_LOOKS)
          ? [`${runId} counts as lost`]
          : []),
        ...(ofRun(runId).length > MOST_DEAD ? [`${runId} tried ${ofRun(runId).length} dead places`] : []),
      ])
    },
  },
  {
    name: 'servers-fit-the-plan',
    sentence: 'A server with 4 GPUs belongs to someone who has or had a Premium plan.',
    broken: ({ rows }) =>
      rows.runs.flatMap((run) => {
        const place = rows.places.find(({ id }) => id === run.placeId)
        const isLarge = rows.plans.some(
          ({ userId, planType, earlierPlanType }) =>
            userId === run.userId && (planType === 'premium' || earlierPlanType === 'premium'),
        )
        return place && place.gpus > 1 && !isLarge ? [`${run.id} has ${place.gpus} GPUs`] : []
      }),
  },
  {
    name: 'worlds-fit-the-plan',
    sentence: 'A server runs only the environment and the vehicle that its plan and the catalog included at its start.',
    broken: ({ rows }) =>
      rows.witnessed.flatMap(({ what, id }) => (what.startsWith('beyond ') ? [`${id} started ${what}`] : [])),
  },
  {
    name: 'no-larger-than-wished',
    sentence: 'A server has at most as many GPUs as its user chose.',
    broken: ({ rows }) =>
      rows.runs.flatMap((run) => {
        const gpus = rows.places.find(({ id }) => id === run.placeId)?.gpus ?? 0
        return run.maxGpus !== null && gpus > run.maxGpus ? [`${run.id} has ${gpus} GPUs, not ${run.maxGpus}`] : []
      }),
  },
]
