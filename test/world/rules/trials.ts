import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

/** As the product promises: see docs/billing.md. */
const WARNED_MS = 5 * MINUTE_MS

export const TRIALS_RULES: Rule[] = [
  {
    name: 'one-trial-per-mailbox',
    sentence: 'A mailbox has at most one trial, ever, whatever its addresses and accounts.',
    broken: ({ rows, people }) =>
      [...Map.groupBy(people, ({ mailbox }) => mailbox)].flatMap(([mailbox, all]) => {
        const ids = new Set(all.map(({ user }) => user.id))
        const trials = rows.plans.filter(({ userId, subType }) => ids.has(userId) && subType === 'demo')
        return trials.length > 1 ? [`${mailbox} has ${trials.map(({ userId }) => userId)}`] : []
      }),
  },
  {
    name: 'trial-ends-in-time',
    sentence: 'When a trial is over, its server is stopped within 3 quiet minutes.',
    broken: ({ world, rows }) =>
      rows.runs.flatMap((run) =>
        run.mustStopAt !== null &&
        run.stopRequestedAt === null &&
        isOverdue(world, 'fleet', run.mustStopAt, 3 * MINUTE_MS, 1)
          ? [`${run.id} was to stop ${iso(run.mustStopAt)}`]
          : [],
      ),
  },
  {
    name: 'trial-ends-with-a-warning',
    sentence: 'People with more than 5 minutes of a trial get one email when 5 are left, within 2 quiet minutes.',
    broken: ({ world, rows }) => [
      ...rows.runs.flatMap((run) => {
        const { id, billedFrom, mustStopAt, endsAt, endsSetAt, stopRequestedAt, trialWarnedAt } = run
        if (billedFrom === null || mustStopAt === null || stopRequestedAt !== null || trialWarnedAt !== null) return []
        // It ends earlier, when its user wanted.
        if (endsAt !== null && endsAt < mustStopAt) return []
        const from = mustStopAt - WARNED_MS
        // Until its user moved it out of the way, their own end came first.
        return from > billedFrom && isOverdue(world, 'fleet', Math.max(from, endsSetAt ?? 0), 2 * MINUTE_MS, 0)
          ? [`${id} ends ${iso(mustStopAt)}, nobody is warned`]
          : []
      }),
      ...rows.users.flatMap(({ id, name }) => {
        const warnings = rows.witnessed.filter((one) => one.id === id && one.what === 'trial warning').length
        const mails = rows.witnessed.filter((one) => one.id === id && /^mail: .* left$/.test(one.what)).length
        return mails === warnings ? [] : [`${name} got ${mails} mails for ${warnings} warnings`]
      }),
    ],
  },
  {
    name: 'trial-over-is-mailed',
    sentence: 'People who lose a server because their trial is over get one email.',
    broken: ({ rows, people }) =>
      people.flatMap(({ user, asked, closes }) => {
        const over = rows.runs.filter(
          ({ id, userId, mustStopAt, stopRequestedAt, endsAt }) =>
            userId === user.id &&
            mustStopAt !== null &&
            (stopRequestedAt ?? 0) >= mustStopAt &&
            (endsAt ?? Infinity) >= mustStopAt &&
            rows.jobs.some((job) => job.runId === id && job.kind === 'server_stop' && job.errorCode === null),
        )
        const ours = over.filter(({ id }) => !asked.has(id) && !closes)
        const mails = rows.witnessed.filter(({ what, id }) => id === user.id && /^mail: .*trial is over$/.test(what))
        return mails.length < ours.length || mails.length > over.length
          ? [`${user.name} got ${mails.length} mails for ${ours.length} to ${over.length} ends`]
          : []
      }),
  },
]
