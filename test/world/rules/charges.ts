import type { Dispute } from '../../../dev/stripe/objects.ts'
import { DAY_MS, HOUR_MS } from '../../../src/domain/instant.ts'
import type { DisputeState } from '../../../src/domain/money/invoice.ts'
import { customerOf, disputes, refundedOf, tries, usableMethod } from '../payers.ts'
import type { World } from '../world.ts'
import { isPressing } from './debts.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

/** Triggers that may pass until Stripe has heard that it may try a card no more. */
const ROUNDS = 3

/** Whether that many rounds of triggers, with nothing failing, lie between these moments. */
function hadItsChance({ calm }: World, from: number, until: number): boolean {
  const since = calm.from('money', from)
  return calm.rounds.filter((at) => since < at && at < until).length >= ROUNDS
}

/** By when we certainly heard of what they disputed since then. */
function disputesOf({ stripe, webhooks }: World, userId: string, since: number): number[] {
  const customer = customerOf(stripe, userId)?.id
  const theirs = new Set(stripe.invoices().flatMap((one) => (one.customer === customer ? [one.id] : [])))
  return disputes(stripe).flatMap(({ invoice, created, payment_intent }) =>
    theirs.has(invoice) && !webhooks.owe(payment_intent) && created * 1000 > since
      ? [created * 1000 + DAY_MS + HOUR_MS]
      : [],
  )
}

function stateOf(status: Dispute['status']): DisputeState | null {
  if (status === 'needs_response') return 'open'
  return status === 'won' || status === 'lost' ? status : null
}

export const CHARGES_RULES: Rule[] = [
  {
    name: 'no-card-is-tried-after-a-no',
    sentence:
      'Stripe tries no card after its owner said no, disputed a payment, or closed the account, or while an operator holds the invoice, once three quiet rounds of triggers have passed.',
    broken: ({ world, rows, memory, now }) =>
      tries(world.stripe).flatMap(({ id, invoice, at }) => {
        // Judged at first sight: they may answer otherwise afterward.
        if (memory.since(id, true) !== now) return []
        const row = rows.invoices.find(({ stripeInvoiceId }) => stripeInvoiceId === invoice)
        const owner = rows.users.find((one) => one.id === row?.userId)
        if (!row || !owner) return []
        const { chargeConsentAt: yes, chargeRefusedAt: no, closedAt } = owner
        const told = disputesOf(world, owner.id, yes ?? 0)
        const against = [closedAt, row.heldAt, (no ?? 0) > (yes ?? 0) ? no : null, ...told]
        return against.flatMap((since) =>
          since !== null && hadItsChance(world, since, at * 1000)
            ? [`${invoice} was tried ${iso(at * 1000)}, although nobody may since ${iso(since)}`]
            : [],
        )
      }),
  },
  {
    name: 'who-can-be-charged-gets-no-link',
    sentence:
      'In quiet times, who agreed and has a usable card since before a bill pays it by card, and nobody who does is suspended before Stripe has tried.',
    broken: ({ world, rows, memory, now }) =>
      rows.users.flatMap((user) => {
        const { chargeConsentAt: yes, chargeRefusedAt: no, closedAt } = user
        const isWilling = yes !== null && yes > (no ?? 0) && closedAt === null
        const since = memory.since(
          `can be charged ${user.id}`,
          isWilling && usableMethod(world.stripe, user.id, now) !== null,
        )
        return rows.invoices.flatMap((row) => {
          const { billId, userId, stripeInvoiceId, dueAt, heldAt, heldMs } = row
          const invoice = world.stripe.invoices().find(({ id }) => id === stripeInvoiceId)
          if (userId !== user.id || !invoice?.status_transitions.finalized_at) return []
          const bill = rows.bills.find(({ id }) => id === billId)
          const isNew = memory.since(`finalized ${billId}`, true) === now
          const isCredited = rows.bills.some(
            ({ corrects, amountCents }) => corrects === (bill?.corrects ?? billId) && amountCents < 0,
          )
          const from = bill?.createdAt ?? 0
          const isCharged = invoice.collection_method === 'charge_automatically'
          const isCalm = since !== null && since < from && world.calm.since.money < from && !isCredited
          const isSuspended = user.suspendedAt !== null && dueAt !== null && dueAt <= now && invoice.status === 'open'
          const isWaiting = isCharged && invoice.auto_advance && !invoice.attempted
          return [
            ...(isNew && isCalm && !isCharged && invoice.total >= 50 && !(heldAt ?? heldMs)
              ? [`${user.name} could have been charged for ${billId}, and got a link`]
              : []),
            ...(isSuspended && isWaiting && invoice.amount_remaining > 0
              ? [`${user.name} is suspended for ${billId}, which Stripe hasn't tried to charge`]
              : []),
            ...(!isPressing(row) &&
            row.processingAt !== null &&
            heldAt === null &&
            isSuspended &&
            rows.invoices.length === 1
              ? [`${user.name} is suspended for ${billId}, which a bank is paying`]
              : []),
          ]
        })
      }),
  },
  {
    name: 'nobody-is-asked-to-pay-twice',
    sentence: 'While we know that a bank is paying an invoice, we ask nobody to pay it.',
    broken: ({ rows }) =>
      rows.witnessed.filter(({ what }) => what === 'asked while a bank pays').map(({ id }) => `the invoice of ${id}`),
  },
  {
    name: 'a-debit-gives-days-once',
    sentence: 'A bank debit that comes back puts off the due date of an invoice once.',
    broken: ({ rows }) => {
      const given = rows.witnessed.flatMap(({ what, id }) => (what === 'days after a debit' ? [id] : []))
      return given.filter((id, at) => given.indexOf(id) < at).map((id) => `the invoice of ${id}`)
    },
  },
  {
    name: 'what-was-given-back-is-in-the-books',
    sentence:
      'A refund and a dispute whose news came are in the history within 3 quiet hours, and the operator got an email for each dispute.',
    broken: ({ world, rows, memory }) =>
      world.stripe.invoices().flatMap(({ id, status }) => {
        const refunded = refundedOf(world.stripe, id)
        const [disputed] = disputes(world.stripe).filter(({ invoice }) => invoice === id)
        if (!refunded && !disputed) return []
        const row =
          rows.invoices.find(({ stripeInvoiceId }) => stripeInvoiceId === id) ??
          rows.planPayments.find(({ stripeInvoiceId }) => stripeInvoiceId === id)
        const wanted = disputed ? stateOf(disputed.status) : null
        const isRight = row?.refundedCents === refunded && row.dispute === wanted
        // Whoever hears late that it's won has nothing to do.
        const causes = { open: [`payment_disputed:${id}`], lost: [`dispute_lost:${id}`], won: [] }
        const isTold = wanted === null || causes[wanted].every((cause) => memory.causes.has(cause))
        const since = memory.since(
          `given back ${id}`,
          !world.webhooks.owe(`pi_${id}`) && (!isRight || !isTold),
          `${refunded} ${wanted}`,
        )
        return since !== null && status === 'paid' && isOverdue(world, 'money', since, 3 * HOUR_MS + DAY_MS)
          ? [`${id}: ${refunded} cents refunded, dispute ${wanted}, but here ${row?.refundedCents} and ${row?.dispute}`]
          : []
      }),
  },
]
