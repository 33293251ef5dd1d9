import type { RunRow } from '../../../db/schema/fleet.ts'
import type { InstanceRecord } from '../../../dev/ec2/history.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { runSeconds, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import type { Rows } from '../database.ts'
import { isOverdue, iso, type Rule, wasUnseen } from './rule.ts'

/** As the product promises: see docs/billing.md. */
const ANSWERS_WITHIN_MS = 10 * MINUTE_MS

/** A run's whole seconds up to its end, in which the machine was there by what we know of EC2's record. */
function toldSeconds(rows: Rows, run: RunRow, until: number, record: InstanceRecord | undefined): number {
  const known = rows.launches.find(({ instanceId }) => instanceId !== null && instanceId === run.instanceId)
  const from = Math.max(
    Math.ceil((run.billedFrom ?? 0) / 1000),
    known?.launchedAt && record ? record.toldLaunch / 1000 : 0,
  )
  const end = Math.min(Math.floor(until / 1000), (known?.endedAt && record?.toldEnd ? record.toldEnd : Infinity) / 1000)
  return Math.max(0, end - from)
}

/** What is left after credits. A bill that an operator corrected to less than the credit can't give it all. */
function paidSeconds(rows: Rows, run: RunRow): number {
  const credits = rows.bills.filter(({ runId }) => runId === run.id)
  const seconds = runSeconds(run.billedFrom ?? 0, run.meteredUntil ?? 0)
  const isTampered = rows.bills.some(
    ({ userId, corrects, runId }) => userId === run.userId && corrects !== null && runId === null,
  )
  return run.creditSeconds && isTampered
    ? seconds - run.creditSeconds
    : credits.reduce((left, credit) => left + credit.seconds, seconds)
}

export const METERS_RULES: Rule[] = [
  {
    name: 'meter-within-the-stop',
    sentence: 'A meter never runs past the accepted stop, starts once, and never grows after its end.',
    broken: ({ rows, memory }) =>
      rows.runs.flatMap((run) => {
        const { id, billedFrom, stopRequestedAt, meteredUntil } = run
        const before = memory.runs.get(id)
        return [
          ...// A stop on its way when the meter starts bills nothing.
          (meteredUntil !== null && meteredUntil > Math.max(stopRequestedAt ?? -1, billedFrom ?? 0)
            ? [`${id} is metered until ${iso(meteredUntil)}, stopped ${iso(stopRequestedAt)}`]
            : []),
          ...(before?.billedFrom != null && before.billedFrom !== billedFrom ? [`${id} started its meter again`] : []),
          ...(before?.stopRequestedAt != null && before.stopRequestedAt !== stopRequestedAt
            ? [`the stop of ${id} moved from ${iso(before.stopRequestedAt)} to ${iso(stopRequestedAt)}`]
            : []),
          ...(before?.meteredUntil != null && (meteredUntil ?? Infinity) > before.meteredUntil
            ? [`the meter of ${id} grew after its end`]
            : []),
          ...(before?.stopRequestedAt != null && before.billedFrom === null && billedFrom !== null
            ? [`the meter of ${id} started after its stop`]
            : []),
        ]
      }),
  },
  {
    name: 'meter-within-ec2',
    sentence: 'A meter starts after the server answered, and ends before EC2 ended its instance.',
    broken: ({ world, rows, now }) => {
      const records = new Map(world.ec2.records().map((record) => [record.instanceId, record]))
      return rows.runs.flatMap((run) => {
        const { id, billedFrom, meteredUntil, confirmedAt, endedAt, instanceId } = run
        if (billedFrom === null) return meteredUntil === null ? [] : [`${id} has a meter without a start`]
        const record = records.get(instanceId ?? '')
        // `nobody-pays-beyond-a-program` has those that end with their program.
        const answered = run.untilExit ? billedFrom : (world.servers.answeredAt.get(instanceId ?? '') ?? Infinity)
        const end = record?.shuttingDownAt ?? now
        const sure =
          endedAt === null ? Math.min(confirmedAt ?? billedFrom, meteredUntil ?? Infinity) : (meteredUntil ?? Infinity)
        return [
          ...(billedFrom < answered ? [`${id} is billed from ${iso(billedFrom)}, it answered ${iso(answered)}`] : []),
          ...(sure > end ? [`${id} is billed until ${iso(sure)}, EC2 ended it ${iso(end)}`] : []),
          ...(endedAt !== null && runSeconds(billedFrom, sure) > (end - (record?.runningAt ?? end)) / 1000
            ? [`${id} is billed for more seconds than EC2 ran it`]
            : []),
        ]
      })
    },
  },
  {
    name: 'every-stopped-second-counts',
    sentence: 'A server that was up at its accepted stop is billed to that stop: nobody runs for free.',
    broken: ({ world, rows, memory }) => {
      const records = new Map(world.ec2.records().map((record) => [record.instanceId, record]))
      return rows.runs.flatMap((run) => {
        const { id, billedFrom, endedAt, stopRequestedAt, meteredUntil, instanceId, mustStopAt, endsAt } = run
        if (billedFrom === null || endedAt === null || stopRequestedAt === null || memory.blamed.has(id)) return []
        if (run.untilExit) return []
        const end = records.get(instanceId ?? '')?.shuttingDownAt ?? 0
        // Until its start is known and its stop is carried out, an instance may end on its own.
        const due = Math.max(billedFrom, Math.min(stopRequestedAt, mustStopAt ?? Infinity, endsAt ?? Infinity))
        if (end <= due || wasUnseen(rows, id, 1) || world.ec2.vanished.has(instanceId ?? '')) return []
        const told = toldSeconds(rows, run, due, records.get(instanceId ?? ''))
        if (told === runSeconds(billedFrom, due)) {
          if (meteredUntil === due) return []
        } else if (run.creditAt !== null || paidSeconds(rows, run) >= told) return []
        return [
          `${id} ran until ${iso(end)}, was to be billed until ${iso(due)}, but is billed until ${iso(meteredUntil)}`,
        ]
      })
    },
  },
  {
    name: 'ec2-record-counts',
    sentence:
      "Nobody pays for a second in which EC2's own record, once we know it, says that the machine wasn't there.",
    broken: ({ world, rows }) => {
      const records = new Map(world.ec2.records().map((record) => [record.instanceId, record]))
      return rows.runs.flatMap((run) => {
        const { id, billedFrom, meteredUntil, endedAt, creditAt, instanceId } = run
        if (billedFrom === null || meteredUntil === null || endedAt === null || creditAt !== null) return []
        const told = toldSeconds(rows, run, meteredUntil + run.shortSeconds * 1000, records.get(instanceId ?? ''))
        const paid = paidSeconds(rows, run)
        return paid > told ? [`${id} pays for ${paid} s, EC2's record has ${told}`] : []
      })
    },
  },
  {
    name: 'trial-is-30-minutes',
    sentence: 'A trial meters at most 1,800 seconds in all, unless a plan takes over its running server.',
    broken: ({ rows, people, now }) =>
      people.flatMap(({ user }) => {
        const demo = rows.plans.find((plan) => plan.userId === user.id && plan.subType === 'demo')
        if (!demo) return []
        const span = { start: demo.anchor, end: demo.endedAt ?? Infinity }
        const seconds = rows.runs
          .filter((run) => run.userId === user.id && run.billedFrom !== null && run.mustStopAt !== null)
          .reduce((sum, run) => {
            const end = Math.min(run.meteredUntil ?? now, run.mustStopAt ?? Infinity)
            return sum + runSecondsWithin(run.billedFrom ?? now, end, span)
          }, 0)
        return seconds > 1_800 ? [`${user.name} used ${seconds} s of the trial`] : []
      }),
  },
  {
    name: 'plans-lift-the-trial-end',
    sentence: 'A server that runs under a paid plan has no trial that ends it.',
    broken: ({ rows }) =>
      rows.runs.flatMap((run) =>
        run.stopRequestedAt === null &&
        run.mustStopAt !== null &&
        rows.plans.some((plan) => plan.userId === run.userId && plan.endedAt === null && plan.subType === 'paid')
          ? [`${run.id} is to stop ${iso(run.mustStopAt)}`]
          : [],
      ),
  },
  {
    name: 'plans-end-servers-of-trials',
    sentence:
      'A server that began in a trial and runs under a paid plan has an end, unless its user removed it or it ends with its program.',
    broken: ({ rows }) =>
      rows.runs.flatMap(({ id, userId, inTrial, untilExit, endsAt, endsSetAt, stopRequestedAt }) =>
        inTrial &&
        !untilExit &&
        endsAt === null &&
        endsSetAt === null &&
        stopRequestedAt === null &&
        rows.plans.some((plan) => plan.userId === userId && plan.endedAt === null && plan.subType === 'paid')
          ? [`${id} runs until someone stops it`]
          : [],
      ),
  },
  {
    name: 'silent-servers-are-stopped',
    sentence:
      "A server that hasn't answered 10 minutes after its machine started running is stopped within 3 quiet minutes.",
    broken: ({ world, rows }) =>
      rows.runs.flatMap(({ id, runningAt, billedFrom, stopRequestedAt, endedAt }) =>
        runningAt !== null &&
        billedFrom === null &&
        stopRequestedAt === null &&
        endedAt === null &&
        isOverdue(world, 'fleet', runningAt + ANSWERS_WITHIN_MS, 3 * MINUTE_MS, 1)
          ? [`${id} has run since ${iso(runningAt)} and never answered`]
          : [],
      ),
  },
]
