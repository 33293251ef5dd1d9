import type { UserRow } from '../../../db/schema/accounts.ts'
import type { InvoiceRow } from '../../../db/schema/billing.ts'
import { DAY_MS, HOUR_MS } from '../../../src/domain/instant.ts'
import type { Rows } from '../database.ts'
import { isBeingPaid } from '../payers.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

/** Stripe takes no payment of less, in cents. */
export const LEAST_PAYMENT = 50

/** Nobody owes what an operator holds, what Stripe wouldn't take, or what a bank is paying, unless a debit of it came back before. */
export const isPressing = ({ heldAt, remainingCents, processingAt, debitReturnedAt }: InvoiceRow): boolean =>
  heldAt === null &&
  (remainingCents ?? LEAST_PAYMENT) >= LEAST_PAYMENT &&
  (processingAt === null || debitReturnedAt !== null)

/** The unpaid bills of closed accounts with this one's mailbox. */
export function debtsOf({ id, mailbox }: UserRow, { users, invoices }: Pick<Rows, 'users' | 'invoices'>): InvoiceRow[] {
  const closed = users.filter((one) => one.id !== id && one.closedAt !== null && mailbox && one.mailbox === mailbox)
  return invoices.filter(
    (row) =>
      closed.some((one) => one.id === row.userId) &&
      !/^credit/.test(row.step) &&
      row.status !== 'paid' &&
      row.status !== 'void' &&
      isPressing(row),
  )
}

export const DEBTS_RULES: Rule[] = [
  {
    name: 'debtors-are-suspended',
    sentence:
      'An account is suspended within 26 quiet hours after an invoice becomes overdue or its owner closed another account with a debt, and for at most 26 after it is paid.',
    broken: ({ world, rows, memory }) =>
      rows.users.flatMap((user) => {
        const theirs = new Map(rows.invoices.flatMap((row) => (row.userId === user.id ? [[row.billId, row]] : [])))
        const overdue = world.stripe
          .invoices()
          .filter(({ status }) => /^(open|uncollectible)$/.test(status))
          .filter(({ amount_remaining }) => amount_remaining >= LEAST_PAYMENT)
          .flatMap(({ id, metadata, status_transitions: { finalized_at } }) => {
            const row = theirs.get(metadata.record_id ?? '')
            if (!row || row.heldAt !== null) return []
            if (row.debitReturnedAt === null && isBeingPaid(world.stripe, id)) return []
            return [(finalized_at ?? Infinity) * 1000 + 15 * DAY_MS + row.heldMs]
          })
          .filter((due) => due <= world.clock.ms)
        // A paid one may still be open here.
        const debts = debtsOf(user, rows).filter(({ stripeInvoiceId }) =>
          world.stripe
            .invoices()
            .some((one) => one.id === stripeInvoiceId && /^(open|uncollectible)$/.test(one.status)),
        )
        const owes = overdue.length + debts.length
        const since = memory.since(
          `debtor ${user.id}`,
          owes > 0 !== (user.suspendedAt !== null),
          `${user.suspendedAt} ${overdue} ${debts.length}`,
        )
        return since !== null && user.closedAt === null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
          ? [`${user.name} has ${owes} overdue invoices and debts, suspended ${iso(user.suspendedAt)}`]
          : []
      }),
  },
  {
    name: 'debt-stops-servers',
    sentence:
      'A suspended owner is warned, and their server is stopped 3 days after the suspension, but never within a day of the warning.',
    broken: ({ world, rows }) => [
      ...rows.witnessed.flatMap(({ what, id }) => {
        const [, ms] = /^stopped for debt (\d+)/.exec(what) ?? []
        return Number(ms ?? Infinity) < DAY_MS ? [`${id} was stopped ${ms} ms after the warning`] : []
      }),
      ...rows.runs.flatMap((run) => {
        const { suspendedAt } = rows.users.find(({ id }) => id === run.userId) ?? {}
        return suspendedAt != null &&
          run.stopRequestedAt === null &&
          run.endedAt === null &&
          isOverdue(world, 'money', Math.max(suspendedAt + 2 * DAY_MS, run.requestedAt), 2 * DAY_MS, 3, 25 * HOUR_MS)
          ? [`${run.id} runs on although its owner is suspended since ${iso(suspendedAt)}`]
          : []
      }),
    ],
  },
  {
    name: 'suspended-while-overdue',
    sentence:
      "An account is suspended exactly while an invoice is overdue by Stripe's last answer, or a closed account of its owner has an unpaid one.",
    broken: ({ rows, now }) =>
      rows.users.flatMap((user) => {
        const unpaid = rows.invoices.filter(
          (row) =>
            row.userId === user.id &&
            row.dueAt !== null &&
            isPressing(row) &&
            (row.status === 'open' || row.status === 'uncollectible'),
        )
        // We ask next about one that was just released, and are about to while a look counts its attempts.
        const isSeen = unpaid.some(
          ({ dueAt, syncedAt, step, attempts }) =>
            step !== 'resume' && attempts === 0 && (dueAt ?? Infinity) <= syncedAt,
        )
        const isOverdue = unpaid.some(({ dueAt }) => (dueAt ?? Infinity) <= now)
        const isSuspended = user.suspendedAt !== null
        return (isSeen && !isSuspended) || (isSuspended && !isOverdue && !debtsOf(user, rows).length)
          ? [`${user.name} is suspended ${iso(user.suspendedAt)}, overdue: ${isOverdue}`]
          : []
      }),
  },
  {
    name: 'unpaid-invoices-are-watched',
    sentence: 'We ask Stripe about an unpaid invoice again, at the latest on its due day.',
    broken: ({ rows, now }) =>
      rows.invoices.flatMap(({ billId, step, status, dueAt, nextAt, heldAt }) =>
        step === 'sent' &&
        heldAt === null &&
        (status === 'open' || status === 'uncollectible') &&
        (nextAt === null || (dueAt !== null && dueAt > now && nextAt > dueAt))
          ? [`the invoice of ${billId} is due ${iso(dueAt)}, next asked ${iso(nextAt)}`]
          : [],
      ),
  },
]
