import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { isOverdue, iso, type Rule, type View } from './rule.ts'

/** As the product promises: see docs/billing.md. */
const WARNED_MS = 10 * MINUTE_MS

export const ENDS_RULES: Rule[] = [
  {
    name: 'ends-are-kept',
    sentence: 'If its user set an end, a server is not billed past it, and stops within 3 quiet minutes of it.',
    broken: ({ world, rows }) =>
      rows.runs.flatMap(({ id, endsAt, billedFrom, meteredUntil, stopRequestedAt }) => [
        ...(endsAt !== null && (meteredUntil ?? 0) > Math.max(endsAt, billedFrom ?? 0)
          ? [`${id} was to end ${iso(endsAt)}, and is billed until ${iso(meteredUntil)}`]
          : []),
        ...(endsAt !== null && stopRequestedAt === null && isOverdue(world, 'fleet', endsAt, 3 * MINUTE_MS, 1)
          ? [`${id} was to end ${iso(endsAt)}`]
          : []),
      ]),
  },
  {
    name: 'moved-ends-hold',
    sentence:
      'An end that its user moved, and we accepted, holds until they move it again, or their budget or a smaller plan ends the server.',
    broken: ({ rows, people }) =>
      people.flatMap(({ ends }) =>
        [...ends].flatMap(([id, endsAt]) => {
          const run = rows.runs.find((one) => one.id === id)
          if (!run || run.budgetCents !== null || run.planEnds || run.endsAt === endsAt) return []
          return [`${id} was moved to ${iso(endsAt)}, and ends ${iso(run.endsAt)}`]
        }),
      ),
  },
  {
    name: 'ends-are-warned-of-once',
    sentence:
      'Ten minutes before an end that its user set, we warn once, within 2 quiet minutes, and never earlier, with one email per warning.',
    broken: (view) => [...view.rows.runs.flatMap((run) => wrongWarnings(view, run)), ...wrongMails(view)],
  },
  {
    name: 'ended-runs-say-why',
    sentence:
      'An ended run says why: whose end came, its user, or a failure with its sentence and, unless we stopped it, its code.',
    broken: ({ rows }) =>
      rows.runs.flatMap((run) => {
        const { id, endedAt, endedBecause, errorCode, errorMessage } = run
        if (endedAt === null) return []
        const job = rows.jobs.find(({ runId, kind }) => runId === id && kind === 'server_stop')
        const isUs = job?.errorCode === 'stopped_by_us' || job?.errorCode === 'suspended'
        const isFailed = endedBecause === 'failure' || endedBecause === 'suspended'
        const isRight =
          reasonsOf(run).has(endedBecause ?? 'none') &&
          isFailed === (errorMessage !== null) &&
          (errorCode !== null) === (isFailed && !isUs)
        return isRight ? [] : [`${id} ended because: ${endedBecause}, ${errorCode}, ${errorMessage}`]
      }),
  },
]

/** What can have ended it, by its own ends. */
function reasonsOf(run: View['rows']['runs'][number]): Set<string> {
  const { stopRequestedAt, mustStopAt, endsAt, errorMessage, endedBecause } = run
  if (errorMessage !== null) return new Set(['failure', 'suspended'])
  // `exit-codes-are-the-programs` judges it.
  if (run.untilExit && endedBecause === 'exited') return new Set(['exited'])
  const hasCome = (end: number | null) => end !== null && end <= (stopRequestedAt ?? 0)
  if (hasCome(mustStopAt) && (mustStopAt ?? 0) <= (endsAt ?? Infinity)) return new Set(['trial_over'])
  return new Set(hasCome(endsAt) ? ['time_up', 'budget', 'plan', 'idle'] : ['you'])
}

function wrongWarnings({ world, rows, now }: View, run: View['rows']['runs'][number]): string[] {
  const { id, endsAt, endsSetAt, requestedAt, mustStopAt, planEnds, stopRequestedAt } = run
  const warnings = rows.witnessed.flatMap((one) => {
    const [, end, at] = (one.id === id && /^warned of (\d+) at (\d+)$/.exec(one.what)) || []
    return end && at ? [{ end: Number(end), at: Number(at) }] : []
  })
  const isMissing =
    endsAt !== null &&
    endsAt > now &&
    endsAt < (mustStopAt ?? Infinity) &&
    !planEnds &&
    stopRequestedAt === null &&
    endsAt - WARNED_MS > (endsSetAt ?? requestedAt) &&
    warnings.at(-1)?.end !== endsAt &&
    isOverdue(world, 'fleet', endsAt - WARNED_MS, 2 * MINUTE_MS, 0)
  return [
    ...(isMissing ? [`${id} ends ${iso(endsAt)}, nobody is warned`] : []),
    ...warnings.flatMap(({ end, at }, i) => [
      ...(end - at > WARNED_MS ? [`${id} ends ${iso(end)}, its user is warned ${iso(at)}`] : []),
      ...(warnings[i - 1]?.end === end ? [`${id} is warned twice of ${iso(end)}`] : []),
    ]),
  ]
}

function wrongMails({ rows }: View): string[] {
  return rows.users.flatMap(({ id, name }) => {
    const count = (what: RegExp) => rows.witnessed.filter((one) => one.id === id && what.test(one.what)).length
    const [warnings, mails] = [count(/^end warning$/), count(/^mail: Your server stops in/)]
    return mails === warnings ? [] : [`${name} got ${mails} emails for ${warnings} warnings of an end`]
  })
}
