import { HOUR_MS } from '../../../src/domain/instant.ts'
import { runSecondsWithin } from '../../../src/domain/money/billing.ts'
import { cycleFrom } from '../../../src/domain/money/cycle.ts'
import { toSpan } from '../../../src/server/billing/bills/plan-spans.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

export const BILLS_RULES: Rule[] = [
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
    sentence:
      'A cycle is billed within 3 quiet hours of its end, or of the 25 hours that an open checkout page may hold it up.',
    broken: ({ world, rows, memory }) =>
      rows.users.flatMap((user) => {
        const isLive = rows.runs.some((run) => run.userId === user.id && run.endedAt === null)
        const quietSince = memory.since(`no server ${user.id}`, !isLive)
        if (quietSince === null) return []
        const from = user.billedUntil || user.createdAt
        if (from >= (user.closedAt ?? Infinity)) return []
        const spans = rows.plans.filter((plan) => plan.userId === user.id).map(toSpan)
        const end = Math.min(cycleFrom(spans, from).end, user.closedAt ?? Infinity)
        const isHeld = rows.checkouts.some(({ userId, status }) => userId === user.id && status === 'open')
        const heldUntil = Math.min(end + 25 * HOUR_MS, memory.since(`no open page ${user.id}`, !isHeld) ?? Infinity)
        // Stripe may have ended the plan, and with it the cycle, long before we heard of it.
        const heard = rows.plans.flatMap((plan) =>
          plan.userId === user.id && plan.endedAt === end ? [plan.syncedAt] : [],
        )
        const due = Math.max(quietSince, end, heldUntil, ...heard)
        return isOverdue(world, 'money', due, 3 * HOUR_MS) ? [`${user.name} waits for the bill of ${iso(end)}`] : []
      }),
  },
  {
    name: 'the-database-takes-every-bill',
    sentence: 'The database never rejects a bill, and while it is down, we set no account aside.',
    broken: ({ world }) =>
      world.reached.has('log: alert closing_failed') ? ['an account was set aside (closing_failed)'] : [],
  },
  {
    name: 'a-bill-is-charged-once',
    sentence:
      'A bill has one invoice at Stripe, or one credit on each invoice of what it corrects, with its own amount, sent within 30 quiet hours, or of the day before a charge.',
    broken: ({ world, rows, memory, now }) => {
      const invoices = Map.groupBy(world.stripe.invoices(), ({ metadata }) => metadata.record_id ?? '')
      const notes = Map.groupBy(world.stripe.creditNotes(), ({ metadata }) => metadata.record_id ?? '')
      return rows.bills.flatMap((bill) => {
        const row = rows.invoices.find(({ billId }) => billId === bill.id)
        const sent = invoices.get(bill.id) ?? []
        const credited = notes.get(bill.id) ?? []
        const wanted = Math.max(0, bill.amountCents)
        // Stripe refuses to credit what it no longer tries to collect: we tell the operator.
        const related = rows.bills.filter(
          ({ id, corrects }) => bill.corrects !== null && (id === bill.corrects || corrects === bill.corrects),
        )
        const theirs = new Set(related.map(({ id }) => id))
        const corrected = related.flatMap(({ id }) => invoices.get(id) ?? [])
        const isOperators = row?.step === 'credit' && corrected.some(({ status }) => status === 'uncollectible')
        const isHeld = rows.invoices.some(
          ({ billId, heldAt, processingAt }) =>
            (heldAt !== null || processingAt !== null) && (billId === bill.id || theirs.has(billId)),
        )
        const given = credited.reduce((sum, { amount }) => sum + amount, 0)
        const isGiven = row?.step === 'credited' && corrected.every(({ status }) => status !== 'void')
        const isAnnounced = rows.invoices.some(
          ({ billId, step, chargeAt }) =>
            (billId === bill.id || (bill.corrects !== null && theirs.has(billId))) &&
            // An invoice that was held is at `resume`.
            (step === 'finalize' || step === 'resume') &&
            (chargeAt ?? 0) > now,
        )
        const waits =
          row !== undefined && row.step !== 'sent' && row.step !== 'credited' && !isOperators && !isHeld && !isAnnounced
        const since = memory.since(`unsent ${bill.id}`, waits)
        return [
          ...((bill.amountCents === 0) === (row === undefined)
            ? []
            : [`${bill.id} over ${bill.amountCents} has no invoice row`]),
          ...(sent.length > 1 ? [`${bill.id} has ${sent.length} invoices`] : []),
          ...(new Set(credited.map(({ invoice }) => invoice)).size < credited.length
            ? [`${bill.id} has ${credited.length} credits`]
            : []),
          ...sent.flatMap(({ id, status, total }) =>
            total === wanted || (status === 'draft' && total === 0)
              ? []
              : [`${id} asks for ${total}, ${bill.id} is ${wanted}`],
          ),
          ...(given > Math.max(0, -bill.amountCents) || (isGiven && given !== -bill.amountCents)
            ? [`the credits of ${bill.id} are ${given}, not ${-bill.amountCents}`]
            : []),
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
    name: 'bills-add-up',
    sentence: 'A bill and its corrections cost what their seconds beyond the included hours cost, rounded once.',
    broken: ({ rows }) =>
      rows.bills.flatMap((bill) => {
        if (bill.corrects !== null) return []
        const all = rows.bills.filter(({ id, corrects }) => id === bill.id || corrects === bill.id)
        const seconds = all.reduce((sum, one) => sum + one.seconds, 0)
        const cents = all.reduce((sum, one) => sum + one.amountCents, 0)
        const units = Math.max(0, seconds - Math.round(bill.includedHours * 3_600)) * 4_861
        const right = bill.trial ? 0 : Math.floor((units + 50_000) / 100_000)
        return cents === right ? [] : [`${bill.id} costs ${cents} cents for ${seconds} s, it should be ${right}`]
      }),
  },
  {
    name: 'the-latest-answer-wins',
    sentence: 'An older answer from Stripe never overwrites a newer one.',
    broken: ({ rows }) => rows.witnessed.filter(({ what }) => what === 'older answer').map(({ id }) => id),
  },
  {
    name: 'open-pages-hold-up-bills',
    sentence: 'While a checkout page is open that opened before a cycle ended, that cycle is not billed for 25 hours.',
    broken: ({ rows }) =>
      rows.witnessed.filter(({ what }) => what === 'billed beside an open page').map(({ id }) => id),
  },
]
