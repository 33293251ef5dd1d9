import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { wantedAt } from '../../../src/domain/warm-hours.ts'
import type { Rows } from '../database.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

function kindOf(rows: Rows, placeId: string): string {
  const place = rows.places.find(({ id }) => id === placeId)
  return `${place?.instanceType} ${place?.availabilityZone}`
}

export const WARM_RULES: Rule[] = [
  {
    name: 'warm-machines-have-one-owner',
    sentence: 'A machine that waited for a run hears of one run only, and belongs to no other.',
    broken: ({ world, rows }) => [
      ...world.warm.told.flatMap(({ instanceId, runId }) => {
        const others = world.warm.told.filter((one) => one.instanceId === instanceId && one.runId !== runId)
        return others.length ? [`${instanceId} heard of ${runId} and ${others.map((one) => one.runId)}`] : []
      }),
      ...rows.launches.flatMap(({ instanceId, runId, token }) => {
        const others = rows.launches.filter(
          (one) => one.instanceId !== null && one.instanceId === instanceId && one.runId !== runId,
        )
        const waits = rows.warm.some((one) => one.token === token && one.endedAt === null)
        return others.length || waits
          ? [`${instanceId} of ${runId} also ${waits ? 'waits' : `belongs to ${others.map((one) => one.runId)}`}`]
          : []
      }),
    ],
  },
  {
    name: 'ec2-knows-whose-machine-it-is',
    sentence: 'When a machine hears of its run, EC2’s tags name it already.',
    broken: ({ world }) =>
      world.warm.told.flatMap(({ instanceId, runId, session }) =>
        session === runId ? [] : [`${instanceId} heard of ${runId}, its tag is ${session}`],
      ),
  },
  {
    name: 'only-told-machines-are-billed',
    sentence: 'Nobody pays for a machine that waited for a run and never heard of theirs.',
    broken: ({ world, rows }) =>
      rows.runs.flatMap(({ id, warm, billedFrom, instanceId }) =>
        !warm || billedFrom === null || world.warm.told.some((one) => one.runId === id && one.instanceId === instanceId)
          ? []
          : [`${id} pays for ${instanceId} since ${iso(billedFrom)}`],
      ),
  },
  {
    name: 'no-start-waits-for-a-mute-machine',
    sentence: 'A start that got a machine which doesn’t ask for it has another one within 8 quiet minutes.',
    broken: ({ world, rows, memory }) =>
      rows.runs.flatMap(({ id, warm, workGivenAt, stopRequestedAt, instanceId }) => {
        const waits = warm && workGivenAt === null && stopRequestedAt === null && instanceId !== null
        const since = memory.since(`mute ${id}`, waits)
        return since !== null && isOverdue(world, 'fleet', since, 8 * MINUTE_MS) ? [`${id} since ${iso(since)}`] : []
      }),
  },
  {
    name: 'no-warm-machine-outlives-its-reason',
    sentence: 'No more machines wait than the operator wants for longer than 15 quiet minutes.',
    broken: ({ world, rows, memory, now }) => {
      const alive = rows.warm.filter(({ endedAt }) => endedAt === null)
      return [...Map.groupBy(alive, ({ placeId }) => kindOf(rows, placeId))].flatMap(([kind, kept]) => {
        const setting = rows.warmSettings.find((one) => `${one.instanceType} ${one.availabilityZone}` === kind)
        const wanted = setting ? wantedAt(setting, now) : 0
        const since = memory.since(`too many ${kind}`, kept.length > wanted)
        return since !== null && isOverdue(world, 'fleet', since, 15 * MINUTE_MS, 4)
          ? [`${kept.length} of ${kind}, not ${wanted}, since ${iso(since)}`]
          : []
      })
    },
  },
  {
    name: 'wanted-machines-wait',
    sentence:
      'While places are free, EC2 gives machines, and none failed for an hour, as many wait as the operator wants within 30 quiet minutes.',
    broken: ({ world, rows, memory, now }) =>
      rows.warmSettings.flatMap((setting) => {
        const { instanceType, availabilityZone } = setting
        const kind = `${instanceType} ${availabilityZone}`
        const free = rows.places.filter(
          (place) =>
            `${place.instanceType} ${place.availabilityZone}` === kind &&
            place.reservedBy === null &&
            place.retiredAt === null &&
            place.setAsideUntil <= now,
        )
        const waiting = free.filter(({ id }) => rows.warm.some((one) => one.placeId === id && one.endedAt === null))
        const hasFailed = rows.warm.some(
          ({ placeId, failedAt }) => failedAt !== null && failedAt > now - HOUR_MS && kindOf(rows, placeId) === kind,
        )
        const lacks = !hasFailed && waiting.length < Math.min(wantedAt(setting, now), free.length)
        const since = memory.since(`too few ${kind}`, lacks)
        return since !== null && isOverdue(world, 'fleet', since, 30 * MINUTE_MS, 5)
          ? [`${waiting.length} of ${kind} since ${iso(since)}`]
          : []
      }),
  },
]
