import { DAY_MS, HOUR_MS } from '../../../src/domain/instant.ts'
import { periodAt, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import type { Rows } from '../database.ts'
import { paidHours, paidSince } from '../paid-hours.ts'
import { isBeingPaid } from '../payers.ts'
import { LEAST_PAYMENT } from './debts.ts'
import { isOverdue, iso, type Rule, type View } from './rule.ts'

/** As the product promises: see docs/billing.md. */
const DUE_SOON_MS = 3 * DAY_MS
const INVOICE_MAILS = [
  /^mail: Your invoice: /,
  /^mail: We charge your (card|bank account) on /,
  /^mail: We couldn't charge your card/,
  /^mail: .* is due on /,
  /^mail: We received /,
]
/** In this order: whoever reads that all hours are used needs no email about 80 percent of them. */
const HOURS_MAILS = [
  { share: 0.8, subject: '80% of your included hours are used' },
  { share: 1, subject: 'Your included hours are used up' },
]

export const MONEY_MAILS_RULES: Rule[] = [
  {
    name: 'invoices-are-mailed-once',
    sentence:
      'We send one email when an invoice is ready, one 3 days before it is due, and one when it is paid, each within 30 quiet hours.',
    broken: ({ world, rows, people, memory, now }) => {
      const told = new Map(rows.outbox.map((mail) => [mail.cause, mail.createdAt]))
      const isTold = (cause: string) => told.has(cause)
      const invoices = new Map(world.stripe.invoices().map((one) => [one.metadata.record_id, one]))
      return [
        ...people.flatMap(({ user }) => {
          const theirs = rows.invoices.filter(({ userId, stripeInvoiceId }) => userId === user.id && stripeInvoiceId)
          return INVOICE_MAILS.flatMap((subject) => {
            const mails = rows.witnessed.filter(({ id, what }) => id === user.id && subject.test(what))
            // Each release of a held one announces its charge again.
            const releases = rows.audit.filter(({ act, userId }) => act === 'release_invoice' && userId === user.id)
            // Once the outbox has forgotten, a closed account hears of a debit that came back as of an invoice.
            const isClosed = rows.users.some(({ id, closedAt }) => id === user.id && closedAt !== null)
            const returned = theirs.filter(({ debitReturnedAt }) => isClosed && debitReturnedAt !== null)
            return mails.length > theirs.length + releases.length + returned.length
              ? [`${user.name} got ${mails.length} mails "${subject.source}" for ${theirs.length} invoices`]
              : []
          })
        }),
        ...rows.invoices.flatMap(({ billId, userId, dueAt, heldAt, heldMs, chargeAt }) => {
          const found = invoices.get(billId)
          const isOpenAccount = rows.users.some(({ id, closedAt }) => id === userId && closedAt === null)
          const due = (found?.status_transitions.finalized_at ?? 0) * 1000 + 15 * DAY_MS + heldMs
          const isWaiting = heldAt !== null || (found && isBeingPaid(world.stripe, found.id))
          const isAsked = found?.status === 'open' && found.amount_remaining >= LEAST_PAYMENT
          const isDue = isAsked && now < due && !isWaiting
          const charges = found?.collection_method === 'charge_automatically' && found.auto_advance
          const isAnnounced = announcementOf(rows, billId) !== undefined
          const isReady = isTold(`ready:${billId}`) || isAnnounced
          // One released from its hold is open before the charge that we announced.
          const willCharge = isAnnounced && (chargeAt ?? 0) > now
          // Each debit that comes back has a cause of its own, and its email has the link.
          const isReturned = [...told.keys()].some((cause) => cause?.startsWith(`charge_failed:${billId}:`))
          const isFailing = isReturned || isTold(`charge_failed:${billId}`) || isTold(`charge_asks:${billId}`)
          const waits = {
            ready: isDue && !charges && !willCharge && !isReturned && !isTold(`ready:${billId}`),
            failed: isDue && charges && Boolean(found?.attempted) && !isFailing,
            due_soon: isDue && isReady && now >= due - DUE_SOON_MS && !isTold(`due_soon:${billId}`),
            paid: found?.status === 'paid' && found.amount_paid > 0 && isReady && !isTold(`paid:${billId}`),
          }
          const remindedAt = told.get(`due_soon:${billId}`) ?? Infinity
          return [
            ...Object.entries(waits).flatMap(([what, isWaiting]) => {
              const since = memory.since(`${what} ${billId}`, isWaiting && isOpenAccount)
              return since !== null && isOverdue(world, 'money', since, 30 * HOUR_MS, 4)
                ? [`nobody wrote "${what}" of ${billId}`]
                : []
            }),
            ...(dueAt && !heldMs && remindedAt < dueAt - DUE_SOON_MS
              ? [`"due soon" of ${billId}, due ${iso(dueAt)}, came ${iso(remindedAt)}`]
              : []),
          ]
        }),
      ]
    },
  },
  {
    name: 'charges-are-agreed-and-announced',
    sentence: 'A card pays usage only if its owner agreed to that, at least a day after our email about it left.',
    broken: ({ world, rows, memory, now }) =>
      rows.invoices.flatMap(({ billId, userId }) => {
        const invoice = world.stripe.invoices().find(({ metadata }) => metadata.record_id === billId)
        const at = invoice?.status_transitions.finalized_at
        if (!at || invoice?.collection_method !== 'charge_automatically') return []
        const ms = at * 1000 + 999
        // Judged at first sight: their answer may change afterward.
        if (memory.since(`charge of ${billId}`, true) !== now) return []
        // Whoever says yes once more after the charge had agreed before.
        const answers = [memory.users.get(userId), rows.users.find(({ id }) => id === userId)]
        const isRefusedAfter = (yes: number) =>
          answers.some(
            (one) => one?.chargeRefusedAt != null && one.chargeRefusedAt > yes && one.chargeRefusedAt + HOUR_MS < ms,
          )
        const yeses = answers.flatMap((one) => one?.chargeConsentAt ?? [])
        const isAgreed = yeses.some((yes) => yes <= ms && !isRefusedAfter(yes))
        const told = announcementOf(rows, billId)?.sentAt ?? null
        return isAgreed && told !== null && told + DAY_MS <= ms
          ? []
          : [`${billId} is charged ${iso(ms)}, announced ${iso(told)}, agreed ${yeses.map(iso)}`]
      }),
  },
  {
    name: 'used-hours-are-mailed-once',
    sentence:
      "We send one email when 80% of a period's hours are used, and one when all are, within 4 quiet hours; with the next server after an upgrade, again.",
    broken: ({ world, rows, people, memory, now }) =>
      people.flatMap(({ user, hasUnusualPlan }) => {
        const plan = rows.plans.find(
          ({ userId, endedAt, stripeSubscriptionId }) => userId === user.id && endedAt === null && stripeSubscriptionId,
        )
        const isOpenAccount = rows.users.some(({ id, closedAt }) => id === user.id && closedAt === null)
        const mails = rows.outbox.filter(({ recipient }) => recipient === user.email)
        const twice = HOURS_MAILS.flatMap(({ subject }) => {
          const times = mails.filter((mail) => mail.subject === subject).map(({ createdAt }) => createdAt)
          return times.flatMap((at, i) =>
            i > 0 && isSameCycle({ world, rows }, user.id, times[i - 1] as number, at)
              ? [`${user.name} got "${subject}" ${iso(times[i - 1] as number)} and ${iso(at)}`]
              : [],
          )
        })
        const isPaid = plan?.status === 'active' && plan.paidUntil === null
        const heardAt = memory.since(`paid plan of ${user.id}`, isPaid, `${plan?.id} ${plan?.upgradedAt}`)
        if (!plan || heardAt === null || hasUnusualPlan || !isOpenAccount) return twice
        const { start } = periodAt(plan.anchor, now)
        const hours = paidHours(world.stripe.invoices(), plan.stripeSubscriptionId ?? '', start)
        const from = Math.max(start, plan.upgradedAt ?? 0)
        const used = secondsSeen(rows, user.id, start, now)
        // We look at hours only while a server runs: after late news of a payment or an upgrade, the next server brings the email.
        const paidAt = paidSince(world.stripe.invoices(), plan.stripeSubscriptionId ?? '', start)
        const ranSince = rows.runs.some(
          ({ userId, billedFrom, meteredUntil }) =>
            userId === user.id && billedFrom !== null && (meteredUntil ?? Infinity) > Math.max(paidAt, heardAt, from),
        )
        const missing = HOURS_MAILS.flatMap(({ share, subject }, i) => {
          const isTold = mails.some(
            (mail) => mail.createdAt >= from && HOURS_MAILS.slice(i).some((one) => one.subject === mail.subject),
          )
          const since = memory.since(
            `${subject} ${user.id} ${from}`,
            ranSince && used >= hours * 3_600 * share && !isTold,
          )
          return since !== null && isOverdue(world, 'money', since, 4 * HOUR_MS)
            ? [`${user.name} used ${used} s of ${hours} h since ${iso(start)}, and got no "${subject}"`]
            : []
        })
        return [...twice, ...missing]
      }),
  },
]

/** The last email that said that a card will be charged. */
function announcementOf({ outbox }: Rows, billId: string) {
  return outbox.findLast(({ cause }) => cause?.startsWith(`charge:${billId}:`))
}

/** Whether no cycle of theirs can have ended, and we heard of no change of their plans, between those moments. */
export function isSameCycle(
  { world, rows }: Pick<View, 'world' | 'rows'>,
  userId: string,
  from: number,
  to: number,
): boolean {
  const { plans, users } = rows
  const within = (at: number | null) => at !== null && from < at && at <= to
  const months = (anchor: number) => periodAt(anchor, from).end <= to
  const theirs = plans.filter((plan) => plan.userId === userId)
  const upgrades = world.stripe
    .invoices()
    .filter(
      (one) =>
        one.billing_reason === 'subscription_update' && one.parent?.subscription_details.metadata.user_id === userId,
    )
    // A bank's question may delay it, and our hearing of it takes a while.
    .flatMap(({ status_transitions: { paid_at } }) => (paid_at ? [paid_at * 1000 + 999] : []))
    .filter((paid) => from - DAY_MS < paid && paid <= to)
  return (
    new Date(from).getUTCMonth() === new Date(to).getUTCMonth() &&
    !users.some(({ id, billedUntil }) => id === userId && within(billedUntil)) &&
    !theirs.some((plan) => [plan.anchor, plan.createdAt, plan.endedAt, plan.cancelAt].some(within)) &&
    !upgrades.length &&
    !theirs.some(({ anchor }) => anchor <= from && months(anchor))
  )
}

/** The seconds that certainly count: a live run's up to when we last saw it. */
export function secondsSeen({ runs }: Rows, userId: string, start: number, end: number): number {
  return runs.reduce(
    (sum, run) =>
      run.userId === userId && run.billedFrom !== null
        ? sum + runSecondsWithin(run.billedFrom, run.meteredUntil ?? run.confirmedAt ?? run.billedFrom, { start, end })
        : sum,
    0,
  )
}
