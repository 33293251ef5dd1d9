import type { Card } from '../../../dev/stripe/cards.ts'
import type { Invoice } from '../../../dev/stripe/objects.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { setCharging } from '../../../src/server/billing/bills/charge-consent.ts'
import { holdInvoice, releaseInvoice } from '../../../src/server/billing/bills/invoice-hold.ts'
import type { Random } from '../../../testing/random.ts'
import {
  customerOf,
  decide,
  dispute,
  disputes,
  expireCard,
  paidBy,
  payOnThePage,
  refund,
  removeCard,
  replaceCard,
} from '../payers.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { at, does, type Habit } from './habit.ts'

const CARDS: Card[] = ['good', 'good', 'declined_later', 'bank_asks', 'bank_debit', 'bank_debit', 'bank_debit_returned']
const WAITS = [10 * MINUTE_MS, 5 * HOUR_MS, DAY_MS + 5 * MINUTE_MS, 2 * DAY_MS, 4 * DAY_MS, 6 * DAY_MS]

/** Lets a card or a bank account pay usage, and does what people, banks, and operators do about that. */
export const letTheCardPay: Habit = async (world, random, person) => {
  if (!(await useMore(world, random, person, random.pick(CARDS)))) return
  for (let times = random.between(3, 9); times > 0; times--) {
    if (random.chance(0.8)) await act(world, random, person)
    if (random.chance(0.3)) await atTheCharge(world, random, person)
    else await world.advance(random.pick(WAITS))
  }
  await releaseAll(world, person)
}

/** While Stripe tries a card that fails, its owner says no, closes the account, or disputes something, or an operator holds the invoice. */
export const stopTheTries: Habit = async (world, random, person) => {
  if (!(await useMore(world, random, person, 'declined_later'))) return
  const chargeAt = (await invoicesOf(world, person)).find(({ step }) => step === 'finalize')?.chargeAt
  if (!chargeAt) return
  await at(world, chargeAt)
  await aFewTriggers(world)
  await world.advance(2 * HOUR_MS)
  await aFewTriggers(world)
  const [invoice] = (await invoicesOf(world, person)).filter(
    ({ status, heldAt }) => status === 'open' && heldAt === null,
  )
  const paid = random.pick(paidBy(world.stripe, person.user.id))
  const stops = [
    () => answer(world, person, false),
    ...(invoice
      ? [
          () =>
            does(world, person, 'has an invoice held', async () => {
              await holdInvoice(world.ctx, hand(world), invoice.billId)
            }),
        ]
      : []),
    ...(paid ? [() => does(world, person, 'disputes a payment', () => dispute(world.stripe, paid))] : []),
    () => does(world, person, 'closes', () => person.close()),
  ]
  await random.pick(stops)?.()
  await aFewTriggers(world)
  for (const days of [2, 2, 3, 4]) await world.advance(days * DAY_MS)
  await releaseAll(world, person)
}

async function aFewTriggers(world: World): Promise<void> {
  for (const _ of [1, 2, 3, 4]) await world.advance(4 * MINUTE_MS)
}

/** Than their plan includes, until that is billed. @returns whether they could */
async function useMore(world: World, random: Random, person: Person, card: Card): Promise<boolean> {
  const account = async () => (await world.database.read()).users.find(({ id }) => id === person.user.id)
  if ((await account())?.closedAt !== null) return false
  world.ec2.heal()
  if (!person.subscription()) {
    await does(world, person, 'checkout', () => person.openCheckout('basic'))
    await does(world, person, 'pay', () => {
      // A page that has just expired can't be paid.
      world.stripe.passTime()
      const page = random.pick(person.openPages())
      if (page) world.stripe.pay(page.id, card, { chargeUsage: random.chance(0.85) ? 'yes' : 'no' })
    })
  } else await does(world, person, 'replaces the card', () => give(world, person, card))
  await world.advance(2 * MINUTE_MS)
  if (random.chance(0.8)) await answer(world, person, true)
  await does(world, person, 'start', () => person.start())
  await world.advance(3 * MINUTE_MS)
  await world.advance(random.between(6, 10) * HOUR_MS)
  await does(world, person, 'stop', () => person.stop())
  await world.advance(5 * MINUTE_MS)
  await at(world, ((await account())?.billingDueAt ?? 0) + random.between(3, 40) * MINUTE_MS)
  await aFewTriggers(world)
  return true
}

/** Just before, at, or after the moment from which we may charge. */
async function atTheCharge(world: World, random: Random, person: Person): Promise<void> {
  const rows = await invoicesOf(world, person)
  const next = rows.find(({ chargeAt }) => chargeAt !== null && chargeAt > world.clock.ms)
  await at(world, (next?.chargeAt ?? world.clock.ms) + random.pick([-MINUTE_MS, 0, 3 * MINUTE_MS, 2 * HOUR_MS]))
  await world.advance(4 * MINUTE_MS)
}

const invoicesOf = async (world: World, { user }: Person) =>
  (await world.database.read()).invoices.filter(({ userId }) => userId === user.id)

async function answer(world: World, person: Person, on: boolean): Promise<void> {
  await does(world, person, `says ${on ? 'yes' : 'no'} to charges`, () =>
    setCharging(world.ctx, person.user.id, { on }),
  )
  world.note(on ? 'agreed to charges' : 'consent withdrawn')
}

function give(world: World, person: Person, card: Card): void {
  const customer = customerOf(world.stripe, person.user.id)
  if (customer) replaceCard(world.stripe, customer, card)
}

const hand = ({ ctx }: World) => ({
  db: ctx.db,
  now: ctx.now,
  by: { id: 'user_operator', reason: 'They ask about it' },
})

async function releaseAll(world: World, person: Person): Promise<void> {
  for (const { billId, heldAt } of await invoicesOf(world, person))
    if (heldAt !== null) await release(world, person, billId)
}

async function release(world: World, person: Person, billId: string): Promise<void> {
  await does(world, person, 'has an invoice released', () => releaseInvoice(world.ctx, hand(world), billId))
  world.note('invoice released')
}

async function act(world: World, random: Random, person: Person): Promise<void> {
  const { stripe } = world
  const customer = customerOf(stripe, person.user.id)
  if (!customer) return
  const note = (state: string, run: () => unknown) => async () => {
    await does(world, person, state, run)
    world.note(state)
  }
  const open = random.pick(person.openInvoices().filter(({ parent }) => parent === null))
  const paid = random.pick(paidBy(stripe, person.user.id))
  const ours = await invoicesOf(world, person)
  const held = random.pick(ours.filter(({ heldAt }) => heldAt !== null))
  const unpaid = random.pick(
    ours.filter(({ heldAt, status }) => heldAt === null && status !== 'paid' && status !== 'void'),
  )
  const undecided = random.pick(
    disputes(stripe).filter(
      ({ status, invoice }) => status === 'needs_response' && isOf(stripe.invoices(), invoice, customer.id),
    ),
  )
  const acts: (() => Promise<void>)[] = [
    note('card replaced', () => give(world, person, random.pick(CARDS))),
    note('card removed', () => removeCard(stripe, customer)),
    note('card expired', () => expireCard(stripe, customer)),
    () => answer(world, person, false),
    () => answer(world, person, random.chance(0.7)),
    ...(held ? [() => release(world, person, held.billId)] : []),
    ...(unpaid ? [note('invoice held', () => holdInvoice(world.ctx, hand(world), unpaid.billId))] : []),
    ...(open
      ? [
          note('paid on the page', () => payOnThePage(stripe, open, null)),
          note('bank debit on the page', () => payOnThePage(stripe, open, { returned: random.chance(0.5) })),
        ]
      : []),
    ...(paid
      ? [
          note('payment refunded', () => refund(stripe, paid, random.chance(0.5))),
          note('payment disputed', () => dispute(stripe, paid)),
        ]
      : []),
    ...(undecided ? [note('dispute decided', () => decide(stripe, undecided, random.pick(['won', 'lost'])))] : []),
    ...(random.chance(0.1) ? [note('closed with cards', () => person.close())] : []),
  ]
  await random.pick(acts)?.()
}

const isOf = (invoices: Invoice[], id: string, customer: string) =>
  invoices.some((one) => one.id === id && one.customer === customer)
