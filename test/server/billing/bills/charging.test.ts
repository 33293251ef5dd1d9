import { eq, like, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import { notices, outbox } from '../../../../db/schema/mail.ts'
import { listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { setCharging } from '../../../../src/server/billing/bills/charge-consent.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { correctBill } from '../../../../src/server/billing/bills/corrections.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { advanceInvoices } from '../../../../src/server/billing/bills/invoicing.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { DAY, HOUR, MINUTE, MONTH, openCustomer, START } from '../../../../testing/stack/billing-customer.ts'
import { throughCalls } from '../../../../testing/stack/database.ts'

const { stack, me, renew, row, account, mails: allMails, buyBasic: customer } = await openCustomer()

/** The month's end: its invoice is drafted. */
const endMonth = () => stack.passTime(MONTH + 10 * MINUTE, 5 * MINUTE)
async function skipTo(at: number, every = 6 * HOUR) {
  await stack.passTime(MONTH - HOUR, DAY)
  await endMonth()
  await stack.passTime(at, every)
}

const usageBill = async () => (await listBills(stack.ctx, me.user.id)).find(({ kind }) => kind === 'usage')
const mails = async () => (await allMails()).filter(({ cause }) => /^(charge|ready|due_soon|paid)/.test(cause ?? ''))
const subjects = async () => (await mails()).map(({ subject }) => subject)

type AtStripe = {
  id: string
  status: string
  collection_method: string
  auto_advance: boolean
  total: number
  attempt_count?: number
  due_date: number | null
  metadata: { record_id?: string }
}
/** The invoices of usage at Stripe. */
async function usageInvoices() {
  const { stripeCustomerId } = (await account()) ?? {}
  const { data } = await stack.atStripe<{ data: AtStripe[] }>(`invoices?customer=${stripeCustomerId}&limit=100`)
  return data.filter(({ metadata }) => metadata.record_id)
}
const collected = async () => (await usageInvoices()).map((one) => [one.collection_method, one.status, one.total])
async function defaultCard(): Promise<string | null> {
  const path = `customers/${(await account())?.stripeCustomerId}`
  const found = await stack.atStripe<{ invoice_settings: { default_payment_method: string | null } }>(path)
  return found.invoice_settings.default_payment_method
}
async function removeCard() {
  await stack.atStripe(`payment_methods/${await defaultCard()}/detach`, '')
}
async function openPortalAndReplaceCard() {
  const { stripeCustomerId } = (await account()) ?? {}
  const body = new URLSearchParams({ customer: stripeCustomerId ?? '' }).toString()
  const { url } = await stack.atStripe<{ url: string }>('billing_portal/sessions', body)
  await stack.press(url)
}

const CHARGED = ['charge_automatically', 'paid', 525]
const SENT = ['send_invoice', 'open', 525]
const SOON = 'We charge your card on Feb 2, 2028: $5.25'
const READY = 'Your invoice: $5.25, due Feb 16, 2028'
const PAID = 'We received $5.25'

describe('with consent and a card', () => {
  for (const webhooks of ['handled', 'lost'] as const)
    test(`the card pays usage a day after we said so, webhooks ${webhooks}`, async () => {
      await customer({ answer: 'yes' })
      stack.setWebhooks(webhooks === 'lost' ? 'lost' : 'handled')
      await stack.passTime(MONTH - HOUR, DAY)
      await endMonth()
      const { chargeAt = 0 } = (await row()) ?? {}
      expect(await collected()).toEqual([['charge_automatically', 'draft', 525]])
      expect(await row()).toMatchObject({ step: 'finalize', attempts: 0, nextAt: chargeAt })
      expect(chargeAt).toBeGreaterThanOrEqual(MONTH + DAY)
      expect(await subjects()).toEqual([SOON])
      await stack.passTime((chargeAt ?? 0) - 1, HOUR)
      expect((await usageInvoices())[0]?.status).toBe('draft')
      await stack.passTime((chargeAt ?? 0) + 2 * DAY, HOUR)
      expect(await collected()).toEqual([CHARGED])
      expect(await row()).toMatchObject({ step: 'sent', status: 'paid', remainingCents: 0, nextAt: null })
      await stack.passTime(MONTH + 20 * DAY, DAY)
      expect(await subjects()).toEqual([SOON, PAID])
      expect((await account())?.suspendedAt).toBeNull()
    })

  test('a failing card: one mail with the reason, 15 days of our own, then the suspension; a new card is tried', async () => {
    await customer({ card: 'declined_later', answer: 'yes' })
    await skipTo(MONTH + 3 * DAY)
    const [{ id, auto_advance, due_date } = { id: '', auto_advance: false, due_date: 0 }] = await usageInvoices()
    expect([auto_advance, due_date]).toEqual([true, null])
    const { dueAt, hostedUrl, chargeAt } = (await row()) ?? {}
    expect((dueAt ?? 0) - (chargeAt ?? 0)).toBeLessThan(15 * DAY + HOUR)
    expect((dueAt ?? 0) - (chargeAt ?? 0)).toBeGreaterThanOrEqual(15 * DAY)
    const FAILED = "We couldn't charge your card: $5.25 is due Feb 17, 2028"
    expect(await subjects()).toEqual([SOON, FAILED])
    const [, failed] = await mails()
    expect(failed?.text).toContain('The reason we got: “Your card was declined.”')
    expect(failed?.text).toContain(`Pay $5.25:\n${hostedUrl}`)
    // Stripe tries again, and we ask again and again.
    await stack.passTime(MONTH + 10 * DAY, 12 * HOUR)
    for (const _ of [1, 2]) await syncInvoice(stack.ctx, id)
    expect((await usageInvoices())[0]?.attempt_count).toBeGreaterThan(1)
    expect(await subjects()).toEqual([SOON, FAILED])
    await stack.passTime((dueAt ?? 0) - 1, DAY)
    expect(await subjects()).toEqual([SOON, FAILED, '$5.25 is due on Feb 17, 2028'])
    expect((await account())?.suspendedAt).toBeNull()
    await stack.passTime(dueAt ?? 0, DAY)
    expect((await account())?.suspendedAt).toBe(dueAt)
    await openPortalAndReplaceCard()
    // Its next try comes in the same schedule.
    await stack.passTime((dueAt ?? 0) + 8 * DAY, 6 * HOUR)
    expect(await collected()).toEqual([CHARGED])
    expect([(await account())?.suspendedAt, (await subjects()).at(-1)]).toEqual([null, PAID])
  })

  test('a bank that asks: the mail leads to the page where they confirm, and doing so pays', async () => {
    await customer({ card: 'bank_asks', answer: 'yes' })
    await skipTo(MONTH + 3 * DAY)
    const { hostedUrl } = (await row()) ?? {}
    expect(await subjects()).toEqual([SOON, 'Your bank wants you to confirm $5.25'])
    expect((await mails())[1]?.text).toContain(`Confirm $5.25:\n${hostedUrl}`)
    await stack.press(hostedUrl)
    await stack.passTime(MONTH + 5 * DAY, DAY)
    expect([await collected(), (await subjects()).at(-1)]).toEqual([[CHARGED], PAID])
  })

  test('a consent withdrawn before the invoice is finalized: we send it at once', async () => {
    await customer({ answer: 'yes' })
    await skipTo(MONTH + HOUR, HOUR)
    expect(await subjects()).toEqual([SOON])
    await setCharging(stack.ctx, me.user.id, { on: false })
    await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
    expect(await collected()).toEqual([SENT])
    expect((await usageInvoices())[0]).toMatchObject({ auto_advance: false })
    expect(await subjects()).toEqual([SOON, READY])
  })

  test('a consent withdrawn while we finalize the invoice: nothing is charged', async () => {
    await customer({ answer: 'yes' })
    await skipTo(MONTH + HOUR, HOUR)
    stack.clock.now = (await row())?.chargeAt ?? 0
    const { payments } = stack.ctx
    const finalizeInvoice: typeof payments.finalizeInvoice = async (...call) => {
      const done = await payments.finalizeInvoice(...call)
      await setCharging(stack.ctx, me.user.id, { on: false })
      return done
    }
    await advanceInvoices({ ...stack.ctx, payments: { ...payments, finalizeInvoice } })
    await stack.passTime(MONTH + 6 * DAY, 30 * MINUTE)
    expect(await collected()).toEqual([['charge_automatically', 'open', 525]])
    expect(await subjects()).toEqual([SOON, 'Your invoice: $5.25, due Feb 17, 2028'])
  })

  test('a consent withdrawn from an open invoice ends the tries: we email the link, and a later yes changes nothing', async () => {
    await customer({ card: 'declined_later', answer: 'yes' })
    await skipTo(MONTH + 3 * DAY)
    const tries = (await usageInvoices())[0]?.attempt_count
    expect(tries).toBeGreaterThan(0)
    await setCharging(stack.ctx, me.user.id, { on: false })
    await stack.passTime(stack.clock.now + 10 * MINUTE, 5 * MINUTE)
    expect((await usageInvoices())[0]).toMatchObject({ auto_advance: false, attempt_count: tries })
    const told = await mails()
    expect(told.map(({ subject }) => subject)).toEqual([
      SOON,
      "We couldn't charge your card: $5.25 is due Feb 17, 2028",
      'Your invoice: $5.25, due Feb 17, 2028',
    ])
    expect(told[2]?.text).toContain((await row())?.hostedUrl)
    await openPortalAndReplaceCard()
    await setCharging(stack.ctx, me.user.id, { on: true })
    await stack.passTime(MONTH + 12 * DAY, 6 * HOUR)
    expect((await usageInvoices())[0]).toMatchObject({ status: 'open', attempt_count: tries })
    expect(await mails()).toHaveLength(3)
    await stack.press((await row())?.hostedUrl)
    await stack.passTime(MONTH + 14 * DAY, DAY)
    expect([(await row())?.status, (await subjects()).at(-1)]).toEqual(['paid', PAID])
  })

  test.each([
    ['the same no', [false], 1],
    ['a yes and a no', [true, false], 12],
  ])('%s during each of our calls to Stripe puts off no suspension for long', async (_, answers, most) => {
    await customer({ card: 'declined_later', answer: 'yes' })
    await skipTo(MONTH + 3 * DAY)
    const { dueAt } = (await row()) ?? {}
    await stack.passTime((dueAt ?? 0) - 1, DAY)
    await setCharging(stack.ctx, me.user.id, { on: false })
    const { payments } = stack.ctx
    const findInvoice: typeof payments.findInvoice = async (id) => {
      for (const on of answers) await setCharging(stack.ctx, me.user.id, { on }).catch(() => {})
      return payments.findInvoice(id)
    }
    let looks = 0
    for (; looks < 30 && (await account())?.suspendedAt === null; looks++) {
      stack.clock.now += MINUTE
      await advanceInvoices({ ...stack.ctx, payments: { ...payments, findInvoice } })
    }
    expect(looks).toBeLessThanOrEqual(most)
    expect([(await account())?.suspendedAt, (await row())?.dueAt]).toEqual([expect.any(Number), dueAt])
  })

  test('a card that was removed before its invoice is finalized: we send it', async () => {
    await customer({ answer: 'yes' })
    await skipTo(MONTH + HOUR, HOUR)
    await removeCard()
    await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
    expect(await collected()).toEqual([SENT])
    expect(await subjects()).toEqual([SOON, 'Your invoice: $5.25, due Feb 17, 2028'])
  })

  test('a card that was removed before the draft announces nothing', async () => {
    await customer({ answer: 'yes' })
    await removeCard()
    await skipTo(MONTH + 3 * DAY)
    expect([await collected(), await subjects()]).toEqual([[SENT], [READY]])
  })

  test('a bill that is corrected after its notice: we send it, and the credit comes off', async () => {
    await customer({ answer: 'yes' })
    await skipTo(MONTH + HOUR, HOUR)
    expect(await subjects()).toEqual([SOON])
    // An hour past the plan's five.
    const correction = { seconds: 6 * 3600, reason: 'It was our fault.' }
    await correctBill(stack.ctx, (await row())?.billId ?? '', correction)
    await stack.passTime(MONTH + 4 * DAY, HOUR)
    stack.takeLines()
    expect(await collected()).toEqual([SENT])
    expect(await row()).toMatchObject({ step: 'sent', status: 'open', remainingCents: 175 })
    const path = `customers/${(await account())?.stripeCustomerId}`
    expect((await stack.atStripe<{ balance: number }>(path)).balance).toBe(0)
  })

  test("a closed account's last invoice is sent", async () => {
    await customer({ answer: 'yes' })
    await stack.db
      .update(users)
      .set({ closedAt: START + 10 * HOUR })
      .where(eq(users.id, me.user.id))
    await stack.passTime(START + 2 * DAY, HOUR)
    expect((await collected()).map(([method]) => method)).toEqual(['send_invoice'])
  })

  test('less than Stripe charges is carried over as before', async () => {
    // 49 and 50 cents.
    for (const [seconds, method] of [
      [1018, 'send_invoice'],
      [1019, 'charge_automatically'],
    ] as const) {
      await renew()
      await customer({ answer: 'yes', hours: 5 + seconds / 3600 })
      await skipTo(MONTH + HOUR)
      expect((await collected()).map(([how]) => [seconds, how])).toEqual([[seconds, method]])
    }
  })
})

describe('a bank debit that takes days', () => {
  /** On Stripe's page, the day before it falls due. */
  async function payFromBank(card: 'bank_debit' | 'bank_debit_returned') {
    await customer({ answer: 'no' })
    await skipTo(MONTH + 10 * DAY)
    await stack.passTime(MONTH + 14 * DAY, DAY)
    await stack.press((await row())?.hostedUrl, card)
    const { dueAt } = (await row()) ?? {}
    await stack.passTime((dueAt ?? 0) + DAY, 3 * HOUR)
    expect([(await account())?.suspendedAt, (await row())?.processingAt]).toEqual([null, expect.any(Number)])
    return dueAt ?? 0
  }

  test('suspends nobody while it is on its way, even after the due day', async () => {
    await payFromBank('bank_debit')
    expect(await usageBill()).toMatchObject({ processing: true, paid: false, overdue: false })
    await stack.passTime(MONTH + 19 * DAY, 6 * HOUR)
    expect(await row()).toMatchObject({ status: 'paid', processingAt: null })
    expect((await account())?.suspendedAt).toBeNull()
    expect((await subjects()).slice(1)).toEqual(['$5.25 is due on Feb 16, 2028', PAID])
  })

  test('that comes back after the due day leaves three days to pay otherwise', async () => {
    const dueAt = await payFromBank('bank_debit_returned')
    await stack.passTime(MONTH + 18 * DAY + 12 * HOUR, 3 * HOUR)
    const { dueAt: laterAt = 0, processingAt } = (await row()) ?? {}
    expect([processingAt, (await account())?.suspendedAt]).toEqual([null, null])
    expect((laterAt ?? 0) - dueAt).toBeGreaterThan(5 * DAY)
    const told = (await mails()).at(-1)
    expect(told?.subject).toBe("We couldn't charge your bank account: $5.25 is due Feb 22, 2028")
    expect(told?.text).toContain('insufficient funds')
    expect(told?.text).not.toContain('again until then')
    await stack.passTime((laterAt ?? 0) - 1, 6 * HOUR)
    expect((await account())?.suspendedAt).toBeNull()
    await stack.passTime(laterAt ?? 0, DAY)
    expect((await account())?.suspendedAt).toBe(laterAt)
  })

  test('that comes back gives days once: the next one puts off no suspension, and is told, once', async () => {
    await payFromBank('bank_debit_returned')
    await stack.passTime(MONTH + 18 * DAY + 12 * HOUR, 3 * HOUR)
    const { hostedUrl, dueAt = 0 } = (await row()) ?? {}
    const oldest = async () => (await listBills(stack.ctx, me.user.id)).findLast(({ kind }) => kind === 'usage')
    const suspended = async () => [(await account())?.suspendedAt, (await oldest())?.overdue]
    for (const again of [0, 5]) {
      await stack.press(hostedUrl, 'bank_debit_returned')
      await stack.passTime((dueAt ?? 0) + again * DAY, 6 * HOUR)
      expect(await row()).toMatchObject({ dueAt, processingAt: expect.any(Number) })
      expect(await suspended()).toEqual([dueAt, true])
      await stack.passTime((dueAt ?? 0) + (again + 4) * DAY, 6 * HOUR)
      expect(await row()).toMatchObject({ dueAt, processingAt: null })
      expect(await suspended()).toEqual([dueAt, true])
    }
    const toThem = sql`${eq(outbox.recipient, me.user.email)} AND ${like(outbox.subject, 'Account suspended%')}`
    const [mail] = await stack.db.select().from(outbox).where(toThem)
    expect(mail?.text).toContain("You don't need to pay again.")
    expect(mail?.text).not.toContain(hostedUrl)
    const failures = (await mails()).filter(({ cause }) => cause?.startsWith('charge_failed'))
    expect(failures.map(({ subject }) => subject)).toEqual([
      "We couldn't charge your bank account: $5.25 is due Feb 22, 2028",
      ...Array(2).fill("We couldn't charge your bank account: $5.25 is overdue"),
    ])
    await stack.press(hostedUrl, 'bank_debit')
    await stack.passTime((dueAt ?? 0) + 14 * DAY, 6 * HOUR)
    expect([await suspended(), (await row())?.status]).toEqual([[null, false], 'paid'])
  })

  test('is one charge: nobody is asked to pay meanwhile, even if they turn charges off', async () => {
    await customer({ card: 'bank_debit', answer: 'yes' })
    await skipTo(MONTH + 3 * DAY)
    expect(await row()).toMatchObject({ status: 'open', processingAt: expect.any(Number) })
    await setCharging(stack.ctx, me.user.id, { on: false })
    await stack.passTime(MONTH + 4 * DAY, HOUR)
    const soon = 'We charge your bank account on Feb 2, 2028: $5.25'
    expect(await subjects()).toEqual([soon])
    expect((await mails())[0]?.text).toContain(`${soon} for server time`)
    expect((await mails())[0]?.text).not.toContain('your card')
    await stack.passTime(MONTH + 7 * DAY, 6 * HOUR)
    expect([await collected(), await subjects()]).toEqual([[CHARGED], [soon, PAID]])
  })
})

test('an invoice that Stripe gives up after its last try is still owed', async () => {
  await customer({ card: 'declined_later', answer: 'yes' })
  await skipTo(MONTH + 3 * DAY)
  const [{ id } = { id: '' }] = await usageInvoices()
  await stack.atStripe(`invoices/${id}/mark_uncollectible`, '')
  const { dueAt } = (await row()) ?? {}
  await stack.passTime((dueAt ?? 0) - 1, DAY)
  expect(await subjects()).toEqual([
    SOON,
    "We couldn't charge your card: $5.25 is due Feb 17, 2028",
    '$5.25 is due on Feb 17, 2028',
  ])
  await stack.passTime(dueAt ?? 0, DAY)
  expect([(await row())?.status, (await account())?.suspendedAt]).toEqual(['uncollectible', dueAt])
})

describe('the email that announces a charge', () => {
  const IS_ANNOUNCEMENT = like(outbox.cause, 'charge:%')
  /** Our mail is down from here on. */
  async function announcedInVain() {
    await customer({ answer: 'yes' })
    await skipTo(MONTH + HOUR, HOUR)
    await stack.db.update(outbox).set({ sentAt: null, sendAt: MONTH }).where(IS_ANNOUNCEMENT)
  }

  test('is late: so is the charge, and it names the later day', async () => {
    await announcedInVain()
    expect(await usageBill()).toMatchObject({ paid: false, charge_date: '2028-02-02' })
    await stack.passTime(MONTH + 30 * HOUR, HOUR)
    expect((await usageInvoices())[0]?.status).toBe('draft')
    const [later, ...others] = await mails()
    expect([later?.subject, others]).toEqual(['We charge your card on Feb 3, 2028: $5.25', []])
    expect(later?.text).toContain('on Feb 3, 2028')
    const [notice] = await stack.db
      .select()
      .from(notices)
      .where(eq(notices.cause, later?.cause ?? ''))
    expect(notice).toMatchObject({ title: later?.subject, text: expect.stringContaining('Feb 3, 2028') })
    expect(await usageBill()).toMatchObject({ charge_date: '2028-02-03' })
    const sentAt = stack.clock.now
    await stack.db.update(outbox).set({ sentAt, sendAt: null }).where(IS_ANNOUNCEMENT)
    await stack.passTime(sentAt + DAY - 1, HOUR)
    expect((await usageInvoices())[0]?.status).toBe('draft')
    await stack.passTime(sentAt + DAY + 3 * HOUR, HOUR)
    expect(await collected()).toEqual([CHARGED])
  })

  test('was sent some minutes late: the charge waits for as long, and no second one goes out', async () => {
    await announcedInVain()
    const { chargeAt } = (await row()) ?? {}
    await stack.db
      .update(outbox)
      .set({ sentAt: sql`created_at + ${10 * MINUTE}`, sendAt: null })
      .where(IS_ANNOUNCEMENT)
    await stack.passTime((chargeAt ?? 0) + 10 * MINUTE - 1, 30 * MINUTE)
    expect((await usageInvoices())[0]?.status).toBe('draft')
    await stack.passTime((chargeAt ?? 0) + 30 * HOUR, HOUR)
    expect([await collected(), await subjects()]).toEqual([[CHARGED], [SOON, PAID]])
  })

  test("can't be delivered: nothing is charged, and Stripe sends the invoice", async () => {
    await announcedInVain()
    await stack.db.update(outbox).set({ sendAt: null }).where(IS_ANNOUNCEMENT)
    await stack.passTime(MONTH + 2 * DAY, 6 * HOUR)
    expect(await collected()).toEqual([SENT])
  })
})

describe('the answer', () => {
  test('skipped or no: we send invoices; only the skipped one is asked again', async () => {
    await customer({ answer: 'no' })
    expect(await account()).toMatchObject({ chargeConsentAt: null, chargeRefusedAt: START })
    await skipTo(MONTH + 2 * DAY)
    expect([await collected(), await subjects()]).toEqual([[SENT], [READY]])
    await renew()
    await customer()
    expect(await account()).toMatchObject({ chargeConsentAt: null, chargeRefusedAt: null })
  })

  test('someone who bought before we asked agrees later: their plan’s card becomes their default', async () => {
    await customer()
    const { stripeCustomerId } = (await account()) ?? {}
    await stack.atStripe(`customers/${stripeCustomerId}`, 'invoice_settings[default_payment_method]=')
    expect(await defaultCard()).toBeNull()
    await setCharging(stack.ctx, me.user.id, { on: true })
    await skipTo(MONTH + 3 * DAY)
    expect([await collected(), await subjects()]).toEqual([[CHARGED], [SOON, PAID]])
    expect(await defaultCard()).not.toBeNull()
  })

  test('the checkout’s card becomes the default once: late news of it undoes no choice made since', async () => {
    await customer({ answer: 'yes' })
    const first = await defaultCard()
    expect(first).not.toBeNull()
    await openPortalAndReplaceCard()
    const second = await defaultCard()
    stack.clock.now += HOUR
    await setCharging(stack.ctx, me.user.id, { on: false })
    stack.setWebhooks('handled')
    await stack.stripe.settle()
    expect(await defaultCard()).toBe(second)
    expect(await account()).toMatchObject({ chargeConsentAt: START, chargeRefusedAt: START + HOUR })
  })

  test('an answer on the billing page wins over one from a checkout that we hear of later', async () => {
    const { url } = await createCheckout(stack.ctx, me.user, { planType: 'basic' })
    await stack.press(url, undefined, { chargeUsage: 'yes' })
    stack.clock.now += MINUTE
    await setCharging(stack.ctx, me.user.id, { on: false })
    await settleCheckout(stack.ctx, me.user.id)
    expect(await account()).toMatchObject({ chargeConsentAt: null, chargeRefusedAt: START + MINUTE })
    await setCharging(stack.ctx, me.user.id, { on: true })
    expect((await account())?.chargeConsentAt).toBe(START + MINUTE + 1)
  })

  test('a checkout whose card is gone gives the plan all the same', async () => {
    const { url } = await createCheckout(stack.ctx, me.user, { planType: 'basic' })
    await stack.press(url, undefined, { chargeUsage: 'yes' })
    const { data } = await stack.atStripe<{ data: { default_payment_method: string }[] }>('subscriptions?limit=1')
    await stack.atStripe(`payment_methods/${data[0]?.default_payment_method}/detach`, '')
    await settleCheckout(stack.ctx, me.user.id)
    expect((await account())?.chargeConsentAt).toBe(START)
    expect(await defaultCard()).toBeNull()
  })
})

describe('whatever goes wrong', () => {
  /** A new customer whose month has just ended: all that is left is the invoice. */
  async function billed() {
    await renew()
    await customer({ answer: 'yes' })
    stack.clock.now = MONTH + 10 * MINUTE
    await reconcilePlans(stack.ctx)
    await closeDueCycles(stack.ctx)
    expect(await row()).toMatchObject({ step: 'draft', attempts: 0 })
  }
  /** Cron comes by after each of these waits. */
  async function collect(waits: number[], ctx = stack.ctx) {
    for (const wait of waits) {
      await advanceInvoices(ctx).catch(() => {})
      stack.clock.now += wait
      await stack.stripe.settle()
    }
  }
  test('an invoice that a version without charges finalized is charged as announced', async () => {
    await billed()
    await collect([HOUR])
    const { stripeInvoiceId } = (await row()) ?? {}
    await stack.atStripe(`invoices/${stripeInvoiceId}/finalize`, 'auto_advance=false')
    await stack.db
      .update(invoices)
      .set({ step: 'send', attempts: 1, nextAt: stack.clock.now })
      .where(eq(invoices.userId, me.user.id))
    await collect([20 * HOUR, HOUR])
    expect(await collected()).toEqual([['charge_automatically', 'open', 525]])
    await collect([6 * HOUR, 30 * HOUR, 30 * HOUR])
    expect([await collected(), await subjects()]).toEqual([[CHARGED], [SOON, PAID]])
  })

  const outcome = async () => [await collected(), (await subjects()).sort()]
  const whole = [[CHARGED], [SOON, PAID].sort()]

  for (const fault of ['error', 'lost_response', 'timeout'] as const)
    for (const wait of [10 * MINUTE, 30 * HOUR])
      test(`${fault} at each call, resumed after ${wait / MINUTE} minutes: one invoice, one charge`, async () => {
        for (let call = 0; ; call++) {
          await billed()
          stack.stripe.inject(fault, 1, call)
          await collect([wait, 30 * HOUR, wait, 30 * HOUR, 30 * HOUR, 30 * HOUR])
          stack.stripe.heal()
          const reached = stack.takeLines().length > 0
          const [found, told] = await outcome()
          expect([call, found, told?.length]).toEqual([call, [CHARGED], 2])
          if (!reached) {
            expect(call).toBeGreaterThan(8)
            return
          }
        }
      })

  test('the process dies at each read and write of invoicing: one invoice, one announcement, one charge', async () => {
    for (let at = 0; ; at++) {
      await billed()
      let calls = 0
      let died = false
      const { $client } = stack.db
      const dying = <T>(call: () => Promise<T>): Promise<T> => {
        if (calls++ === at) died = true
        return died ? Promise.reject(new Error('killed')) : call()
      }
      const db = throughCalls(stack.db, {
        execute: ((...args: Parameters<typeof $client.execute>) =>
          dying(() => $client.execute(...args))) as typeof $client.execute,
        batch: ((...args: Parameters<typeof $client.batch>) =>
          dying(() => $client.batch(...args))) as typeof $client.batch,
      })
      for (let round = 0; round < 6 && !died; round++) await collect([12 * HOUR], { ...stack.ctx, db })
      await collect([12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR])
      stack.takeLines()
      expect([at, ...(await outcome())]).toEqual([at, ...whole])
      if (!died) {
        expect(at).toBeGreaterThan(8)
        return
      }
    }
  })
})
