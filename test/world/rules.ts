import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { runSeconds, runSecondsWithin } from '../../src/domain/money/billing.ts'
import { cycleFrom } from '../../src/domain/money/cycle.ts'
import { START_LIMITS } from '../../src/domain/start-limits.ts'
import { toSpan } from '../../src/server/billing/bills/plan-spans.ts'
import type { Rows } from './database.ts'
import { independentBills, type SeenPlan } from './independent-bill.ts'
import type { Memory } from './memory.ts'
import type { Person } from './people.ts'
import type { World } from './world.ts'

/** What a rule looks at: the product's rows, the vendors' records, and what the world remembers. */
type View = { world: World; rows: Rows; people: Person[]; memory: Memory; now: number }

export type Rule = {
  name: string
  /** For docs/correctness.md. */
  sentence: string
  /** @returns what breaks it */
  broken: (view: View) => string[]
}

const iso = (at: number | null) => (at !== null && Number.isFinite(at) ? new Date(at).toISOString() : 'never')
const isTerminal = (status: string) => status === 'succeeded' || status === 'failed'

/** What must be true after every step. */
export const RULES: Rule[] = [
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
    sentence: 'Every running instance belongs to a live run, or ends within 10 quiet minutes.',
    broken: ({ world, rows, memory }) =>
      world.ec2.alive().flatMap((one) => {
        const run = rows.runs.find(({ id }) => id === one.tags.session)
        const owned = run?.endedAt === null && !isGivenUp(one.clientToken, rows)
        const since = memory.since(`orphan ${one.id}`, !owned)
        return since !== null && isOverdue(world, 'fleet', since, 10 * MINUTE_MS)
          ? [`${one.id} since ${iso(since)}`]
          : []
      }),
  },
  {
    name: 'places-are-held-by-live-runs',
    sentence: 'Every live run holds its place, and every held place belongs to a live run.',
    broken: ({ rows }) => [
      ...rows.places.flatMap((place) => {
        if (place.reservedBy === null) return []
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
    name: 'meter-within-the-stop',
    sentence: 'A meter never runs past the accepted stop, starts once, and never grows after its end.',
    broken: ({ rows, memory }) =>
      rows.runs.flatMap((run) => {
        const { id, billedFrom, stopRequestedAt, meteredUntil } = run
        const before = memory.runs.get(id)
        return [
          ...(meteredUntil !== null && meteredUntil > (stopRequestedAt ?? -1)
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
        const answered = world.answeredAt.get(instanceId ?? '') ?? Infinity
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
        const { id, billedFrom, endedAt, stopRequestedAt, meteredUntil, instanceId, mustStopAt } = run
        if (billedFrom === null || endedAt === null || stopRequestedAt === null || memory.blamed.has(id)) return []
        const end = records.get(instanceId ?? '')?.shuttingDownAt ?? 0
        // Until its start is known and its stop is carried out, an instance may end on its own.
        const due = Math.max(billedFrom, Math.min(stopRequestedAt, mustStopAt ?? Infinity))
        return end > due && meteredUntil !== due && !memory.wasUnseen.has(id) && !world.ec2.lost.has(instanceId ?? '')
          ? [
              `${id} ran until ${iso(end)}, was to be billed until ${iso(due)}, but is billed until ${iso(meteredUntil)}`,
            ]
          : []
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
    sentence: 'What a person is told of a job never goes back, and its end is told with one outcome.',
    broken: ({ world, memory }) =>
      memory
        .newlyPublished(world.published)
        .flatMap(({ job, before }) =>
          before !== undefined && isTerminal(before) && before !== job.status
            ? [`${job.id} was ${before}, then ${job.status}`]
            : [],
        ),
  },
  {
    name: 'nobody-starts-who-may-not',
    sentence: 'A closed or suspended account starts no server, and nobody starts more often than the limits allow.',
    broken: ({ rows }) => [
      ...rows.users.flatMap((user) =>
        rows.runs
          .filter((run) => run.userId === user.id)
          .flatMap((run) => [
            ...// Both may be on their way to the database at once.
            (user.closedAt !== null && run.requestedAt > user.closedAt + MINUTE_MS
              ? [`${user.name} started after closing`]
              : []),
            ...(user.suspendedAt !== null && run.requestedAt > user.suspendedAt
              ? [`${user.name} started while suspended`]
              : []),
          ]),
      ),
      ...rows.users.flatMap((user) => {
        const counted = rows.runs
          .filter((run) => run.userId === user.id)
          .filter((run) => !rows.jobs.some((job) => job.runId === run.id && job.errorCode === 'no_capacity'))
          .map((run) => run.requestedAt)
        return START_LIMITS.flatMap(({ starts, ms }) =>
          counted.some((at) => counted.filter((other) => at - ms < other && other <= at).length > starts)
            ? [`${user.name} started more than ${starts} times in ${ms} ms`]
            : [],
        )
      }),
    ],
  },
  {
    name: 'every-second-in-one-bill',
    sentence: 'Every metered second before the open cycle is in exactly one bill, and no bill changes.',
    broken: ({ rows, memory }) =>
      rows.users.flatMap((user) => {
        const runs = rows.runs.filter((run) => run.userId === user.id && run.billedFrom !== null)
        const own = rows.bills
          .filter((bill) => bill.userId === user.id && bill.corrects === null)
          .sort((a, b) => a.periodStart - b.periodStart)
        const within = (start: number, end: number) =>
          runs.reduce(
            (sum, run) => sum + runSecondsWithin(run.billedFrom ?? 0, run.meteredUntil ?? Infinity, { start, end }),
            0,
          )
        const total = own.reduce((sum, bill) => sum + bill.seconds, 0)
        const used = user.billedUntil ? within(user.createdAt, user.billedUntil) : 0
        return [
          ...own.flatMap((bill, i) => [
            ...(bill.periodStart < (own[i - 1]?.periodEnd ?? 0) ? [`two bills of ${user.name} overlap`] : []),
            ...(bill.seconds !== within(bill.periodStart, bill.periodEnd)
              ? [`${bill.id} has ${bill.seconds} s, its runs have ${within(bill.periodStart, bill.periodEnd)}`]
              : []),
          ]),
          ...(total === used ? [] : [`${user.name} used ${used} s before ${iso(user.billedUntil)}, billed ${total}`]),
          ...[...memory.bills.values()].flatMap((before) => {
            const bill = rows.bills.find(({ id }) => id === before.id)
            return JSON.stringify(bill) === JSON.stringify(before) ? [] : [`${before.id} changed`]
          }),
        ]
      }),
  },
  {
    name: 'bills-come-in-time',
    sentence: 'A cycle is billed within 26 quiet hours of its end, open checkout or not.',
    broken: ({ world, rows }) =>
      rows.users.flatMap((user) => {
        if (rows.runs.some((run) => run.userId === user.id && run.endedAt === null)) return []
        const from = user.billedUntil || user.createdAt
        if (from >= (user.closedAt ?? Infinity)) return []
        const spans = rows.plans.filter((plan) => plan.userId === user.id).map(toSpan)
        const end = Math.min(cycleFrom(spans, from).end, user.closedAt ?? Infinity)
        return isOverdue(world, 'money', end, 26 * HOUR_MS, 4) ? [`${user.name} waits for the bill of ${iso(end)}`] : []
      }),
  },
  {
    name: 'a-bill-is-charged-once',
    sentence: 'A bill has at most one invoice or credit at Stripe, with its own amount, sent within 30 quiet hours.',
    broken: ({ world, rows, memory }) => {
      const invoices = Map.groupBy(world.stripe.invoices(), ({ metadata }) => metadata.record_id ?? '')
      const notes = Map.groupBy(world.stripe.creditNotes(), ({ metadata }) => metadata.record_id ?? '')
      return rows.bills.flatMap((bill) => {
        const row = rows.invoices.find(({ billId }) => billId === bill.id)
        const sent = invoices.get(bill.id) ?? []
        const credited = notes.get(bill.id) ?? []
        const wanted = Math.max(0, bill.amountCents)
        // Stripe refuses to credit what it no longer tries to collect: the operator is told.
        const corrected = invoices.get(bill.corrects ?? '')?.[0]
        const isOperators = row?.step === 'credit' && corrected?.status === 'uncollectible'
        const waits = row !== undefined && row.step !== 'sent' && row.step !== 'credited' && !isOperators
        const since = memory.since(`unsent ${bill.id}`, waits)
        return [
          ...((bill.amountCents === 0) === (row === undefined)
            ? []
            : [`${bill.id} over ${bill.amountCents} has no invoice row`]),
          ...(sent.length > 1 ? [`${bill.id} has ${sent.length} invoices`] : []),
          ...(credited.length > 1 ? [`${bill.id} has ${credited.length} credits`] : []),
          ...sent.flatMap(({ id, status, total }) =>
            total === wanted || (status === 'draft' && total === 0)
              ? []
              : [`${id} asks for ${total}, ${bill.id} is ${wanted}`],
          ),
          ...credited.flatMap(({ amount }) =>
            amount === -bill.amountCents ? [] : [`the credit of ${bill.id} is ${amount}, not ${-bill.amountCents}`],
          ),
          ...(row?.step === 'sent' && sent.length === 0
            ? [`${bill.id} counts as sent, but Stripe has no invoice`]
            : []),
          ...(since !== null && isOverdue(world, 'money', since, 30 * HOUR_MS, 4)
            ? [`the invoice of ${bill.id} stays at ${row?.step}: ${row?.lastError}`]
            : []),
        ]
      })
    },
  },
  {
    name: 'debtors-are-suspended',
    sentence:
      'An account is suspended within 26 quiet hours of an invoice being overdue, and no longer than that after it was paid.',
    broken: ({ world, rows, memory }) =>
      rows.users.flatMap((user) => {
        const theirs = new Set(rows.invoices.filter(({ userId }) => userId === user.id).map(({ billId }) => billId))
        const overdue = world.stripe
          .invoices()
          .filter(
            ({ metadata, status }) => theirs.has(metadata.record_id ?? '') && /^(open|uncollectible)$/.test(status),
          )
          .map(({ due_date }) => (due_date ?? Infinity) * 1000)
          .filter((due) => due <= world.clock.ms)
        const since = memory.since(`debtor ${user.id}`, overdue.length > 0 !== (user.suspendedAt !== null))
        return since !== null && user.closedAt === null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
          ? [`${user.name} has ${overdue.length} overdue invoices, suspended ${iso(user.suspendedAt)}`]
          : []
      }),
  },
  {
    name: 'debt-stops-servers',
    sentence:
      'A suspended owner is warned, and their server is stopped 3 days after the suspension, but never within a day of the warning.',
    broken: ({ world, rows, memory }) =>
      rows.runs.flatMap((run) => {
        const owner = rows.users.find(({ id }) => id === run.userId)
        const stop = rows.jobs.find((job) => job.runId === run.id && job.errorCode === 'suspended')
        const { suspendedAt, stopWarnedAt } = owner ?? {}
        return [
          ...(stop && !memory.jobs.has(stop.id) && stop.createdAt < (stopWarnedAt ?? Infinity) + DAY_MS
            ? [`${run.id} was stopped ${iso(stop.createdAt)}, warned ${iso(stopWarnedAt ?? null)}`]
            : []),
          ...(suspendedAt != null &&
          run.stopRequestedAt === null &&
          run.endedAt === null &&
          isOverdue(world, 'money', Math.max(suspendedAt + 2 * DAY_MS, run.requestedAt), 2 * DAY_MS, 3, 25 * HOUR_MS)
            ? [`${run.id} runs on although its owner is suspended since ${iso(suspendedAt)}`]
            : []),
        ]
      }),
  },
  {
    name: 'what-is-paid-is-a-plan',
    sentence:
      'A plan paid at Stripe is a plan here within 3 quiet hours, and one that ended there ends here within 26.',
    broken: ({ world, rows, people, memory }) => [
      ...world.stripe.subscriptions().flatMap(({ id, status, metadata }) => {
        const owner = people.find(({ user }) => user.id === metadata.user_id)
        const row = rows.plans.find(({ stripeSubscriptionId }) => stripeSubscriptionId === id)
        const missing = status !== 'canceled' && row?.endedAt !== null
        const since = memory.since(`unknown plan ${id}`, missing)
        return since !== null && owner?.closedAt === null && isOverdue(world, 'money', since, 3 * HOUR_MS, 4)
          ? [`${owner.user.name} pays for ${id} since ${iso(since)}, and has no plan`]
          : []
      }),
      ...rows.plans.flatMap((plan) => {
        const found = world.stripe.subscriptions().find(({ id }) => id === plan.stripeSubscriptionId)
        const since = memory.since(`ended plan ${plan.id}`, plan.endedAt === null && found?.status === 'canceled')
        return since !== null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
          ? [`${plan.id} ended at Stripe ${iso(since)}`]
          : []
      }),
    ],
  },
  {
    name: 'one-plan-is-charged',
    sentence: 'Nobody pays for two plans for longer than 3 quiet hours, and a closed account for none.',
    broken: ({ world, people, memory }) =>
      people.flatMap(({ user, closedAt }) => {
        const paying = world.stripe
          .subscriptions()
          .filter(({ metadata, status }) => metadata.user_id === user.id && status !== 'canceled')
        const since = memory.since(`pays ${user.id}`, paying.length > (closedAt === null ? 1 : 0))
        return since !== null && isOverdue(world, 'money', since, 3 * HOUR_MS, 4)
          ? [`${user.name} pays for ${paying.map(({ id }) => id)}, closed ${iso(closedAt)}`]
          : []
      }),
  },
  {
    name: 'closed-accounts-run-nothing',
    sentence: 'The server of a closed account is stopped within 5 quiet minutes.',
    broken: ({ world, rows }) =>
      rows.users.flatMap((user) =>
        rows.runs
          .filter((run) => run.userId === user.id && run.stopRequestedAt === null && run.endedAt === null)
          .filter(() => user.closedAt !== null && isOverdue(world, 'fleet', user.closedAt, 5 * MINUTE_MS))
          .map((run) => `${run.id} of ${user.name}`),
      ),
  },
  {
    name: 'one-mail-per-cause',
    sentence:
      'Each suspension, each warning and each closing is mailed once, and every mail leaves within 2 quiet hours.',
    broken: ({ world, rows, people, memory }) => [
      ...people.flatMap(({ user }) => {
        const witnessed = (what: string) =>
          rows.witnessed.filter((one) => one.userId === user.id && one.what === what).length
        const count = (subject: RegExp) =>
          rows.witnessed.filter(
            ({ what, userId }) => userId === user.id && what.startsWith('mail: ') && subject.test(what),
          ).length
        const row = rows.users.find(({ id }) => id === user.id)
        const closings = count(/closed/i)
        const [suspensions, warnings] = [witnessed('suspension'), witnessed('warning')]
        return [
          ...(closings !== (row?.closedAt === null ? 0 : 1)
            ? [`${user.name} got ${closings} mails of the closing`]
            : []),
          ...(count(/suspended/i) > suspensions
            ? [`${user.name} got ${count(/suspended/i)} mails for ${suspensions} suspensions`]
            : []),
          ...(count(/stop your server/i) > warnings
            ? [`${user.name} got ${count(/stop your server/i)} warnings instead of ${warnings}`]
            : []),
        ]
      }),
      ...rows.outbox.flatMap((mail) => {
        const since = memory.since(`unsent mail ${mail.id}`, mail.sentAt === null)
        return since !== null && isOverdue(world, 'money', since, 2 * HOUR_MS, 4) ? [`${mail.subject} is not sent`] : []
      }),
      ...(rows.outbox.filter(({ sentAt }) => sentAt !== null).length > world.sent.length
        ? [`${rows.outbox.length} mails count as sent, ${world.sent.length} were`]
        : []),
    ],
  },
]

/** What must be true once everything has become quiet. */
export const QUIET_RULES: Rule[] = [
  {
    name: 'nothing-is-left',
    sentence:
      'When the faults stop and everyone stops, nothing runs, no place is held, and no job, launch or mail is unfinished.',
    broken: ({ world, rows }) => [
      ...world.ec2.alive().map(({ id }) => `${id} runs`),
      ...rows.runs.filter(({ endedAt }) => endedAt === null).map(({ id }) => `${id} is live`),
      ...rows.places.filter(({ reservedBy }) => reservedBy !== null).map(({ id }) => `${id} is held`),
      ...rows.jobs.filter(({ runAt }) => runAt !== null).map(({ id, kind }) => `${kind} ${id} is due`),
      ...rows.launches
        .filter(({ outcome }) => outcome !== 'gone' && outcome !== 'refused')
        .map(({ token }) => `${token} is open`),
      ...rows.outbox.filter(({ sentAt }) => sentAt === null).map(({ subject }) => `"${subject}" is not sent`),
    ],
  },
  {
    name: 'the-ledger-is-theirs',
    sentence: "The bills equal those computed from EC2's and Stripe's records alone, to the cent.",
    broken: ({ world, rows, people, memory }) =>
      people.flatMap((person) => {
        const { user } = person
        const row = rows.users.find(({ id }) => id === user.id)
        if (!row || person.hasUnusualPlan || memory.lateLessons.has(user.id)) return []
        const known = new Set(rows.plans.map(({ stripeSubscriptionId }) => stripeSubscriptionId))
        const hours: Record<string, number> = { proving_ground_basic_monthly: 5, proving_ground_premium_monthly: 30 }
        const paid: SeenPlan[] = world.stripe
          .subscriptions()
          .filter(({ id, metadata }) => metadata.user_id === user.id && known.has(id))
          .map((plan) => ({
            hours: hours[plan.items.data[0]?.price.lookup_key ?? ''] ?? Number.NaN,
            from: plan.billing_cycle_anchor * 1000,
            until: ((plan.ended_at ?? plan.cancel_at) || Infinity) * 1000,
            trial: false,
          }))
        const demo = rows.plans.find((plan) => plan.userId === user.id && plan.subType === 'demo')
        const first = Math.min(...paid.map((plan) => plan.from), Infinity)
        const trial: SeenPlan[] = demo ? [{ hours: 0, from: demo.anchor, until: first, trial: true }] : []
        const runs = rows.runs.flatMap(({ userId, billedFrom, meteredUntil }) =>
          userId === user.id && billedFrom !== null ? [{ start: billedFrom, end: meteredUntil ?? Infinity }] : [],
        )
        const until = Math.min(row.billedUntil, row.closedAt ?? Infinity)
        const expected = independentBills(row.createdAt, until, [...trial, ...paid], runs, row.closedAt)
        const written = rows.bills
          .filter((bill) => bill.userId === user.id && bill.corrects === null)
          .sort((a, b) => a.periodStart - b.periodStart)
          .map((bill) => ({ start: bill.periodStart, seconds: bill.seconds, cents: bill.amountCents }))
        return JSON.stringify(written) === JSON.stringify(expected)
          ? []
          : [`${user.name}: ${JSON.stringify(written)}, expected ${JSON.stringify(expected)}`]
      }),
  },
]

function isGivenUp(token: string | null, rows: Rows): boolean {
  return rows.launches.some(
    (launch) => launch.token === token && (launch.outcome === 'refused' || launch.outcome === 'gone'),
  )
}

/**
 * Whether it has been quiet for so long since then that it should be over. Triggers are rarer here than in life, so
 * enough of them must have had their chance.
 */
function isOverdue(
  world: World,
  what: 'money' | 'fleet',
  since: number,
  ms: number,
  rounds = 3,
  apartMs?: number,
): boolean {
  const apart = apartMs ?? (what === 'money' ? Math.min(6 * HOUR_MS, ms / 4) : 0)
  return world.calmFor(what, since) > ms && world.roundsSince(what, since, apart) >= rounds
}
