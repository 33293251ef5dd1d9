import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import { runs } from '../../db/schema/fleet.ts'
import { finalizeInvoice } from '../../dev/stripe/invoices.ts'
import type { Invoice, Subscription } from '../../dev/stripe/objects.ts'
import { DAY_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { NO_WISHES, type RunWishes } from '../../src/domain/run-wishes.ts'
import { ALL_RESERVED } from '../../src/domain/server-list.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import { closeAccount } from '../../src/server/accounts/close-account.ts'
import { extendByLink } from '../../src/server/accounts/extend-link.ts'
import { cancelAtPeriodEnd } from '../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout } from '../../src/server/billing/plans/checkout.ts'
import { runLinkPath } from '../../src/server/crypto/run-links.ts'
import { changeRun } from '../../src/server/fleet/change-run.ts'
import { joinLine, leaveLine } from '../../src/server/fleet/line/join.ts'
import { startRun } from '../../src/server/fleet/start-run.ts'
import { stopRun } from '../../src/server/fleet/stop-run.ts'
import type { Random } from '../../testing/random.ts'
import type { World } from './world.ts'

export const PASSWORD = 'simulate simulate'
export const PASSWORD_PEPPER = 'p'
export const PASSWORD_HASH = `scrypt$16384$8$5$${'A'.repeat(22)}$${createHmac('sha256', PASSWORD_PEPPER).update(PASSWORD).digest('base64url')}`

export const OWN = { name: 'Own', image: 'ghcr.io/example/own:1' }

/** What people tend to do. Everyone does everything now and then. */
export const BEHAVIORS = ['honest', 'forgetful', 'two tabs', 'impatient', 'cheating'] as const
export type Behavior = (typeof BEHAVIORS)[number]

/** What someone wants for their plan. `was` is their price before, at Stripe. */
export type Decision = {
  what: 'upgrade' | 'downgrade' | 'keep' | 'cancel'
  subscription: string
  was: string | null
  at: number
}

/** What the world knows about a person, independently of the product's database. */
export class Person {
  readonly user: User
  readonly behavior: Behavior
  readonly born: number
  /** All addresses with this name deliver to one mailbox. */
  readonly mailbox: string
  /** When a stop was accepted, by run. */
  readonly stopped = new Map<string, number>()
  /** Runs whose end this person asked for, whatever the answer was. */
  readonly asked = new Set<string>()
  /** What the API answered to each Idempotency-Key, and answers that don't fit. */
  readonly answers = new Map<string, { answer: string; doneAt: number }>()
  readonly contradictions: string[] = []
  /** The end of each run as we last accepted it; null: none. Nothing while nobody can know. */
  readonly ends = new Map<string, number | null>()
  /** Of their authenticator app, their unused recovery codes, and the codes of either that they have used. */
  secret: string | null = null
  recoveryCodes: string[] = []
  readonly seenCodes: string[] = []
  #moving = 0
  #moves = 0
  /** Has asked to close the account. */
  closes = false
  /** When the closing of the account was accepted. */
  closedAt: number | null = null
  /** Support granted a plan, or someone changed one in Stripe's dashboard. */
  hasUnusualPlan = false
  /** What they last decided about their plan, if the answer came; null if they decided nothing or we can't know. */
  decision: Decision | null = null
  /** The prices at which they upgraded, as we quoted them. */
  readonly quotes: { subscription: string; cents: number; at: number }[] = []
  #decisions = 0
  /** The checkout pages that we gave them. */
  #pages = new Set<string>()
  #world: World

  constructor(world: World, user: User, behavior: Behavior, born: number) {
    this.#world = world
    this.user = user
    this.behavior = behavior
    this.born = born
    this.mailbox = user.email.split(/[+@]/)[0] ?? ''
  }

  async live() {
    const rows = await this.#world.database.db.select().from(runs).where(eq(runs.userId, this.user.id))
    return rows.find((run) => run.endedAt === null) ?? null
  }

  async start(): Promise<void> {
    const { ctx, database } = this.#world
    const [row] = await database.db.select().from(users).where(eq(users.id, this.user.id))
    // Now and then they choose a small machine, or an end. A random choice would change every seed.
    const { ms } = this.#world.clock
    const stopAfterMs = ms % 7 ? null : (1 + (ms % 20)) * MINUTE_MS
    const world = {
      environment: ms % 5 ? null : (['Harbor', 'Mountains', 'Moon'][ms % 3] ?? null),
      vehicle: ms % 11 ? null : ms % 2 ? 'ugv' : 'multi',
    }
    const wishes = { ...NO_WISHES, maxGpus: ms % 3 ? null : 1, stopAfterMs, ...world }
    const starter = { user: this.user, suspended: row?.suspendedAt != null }
    await startRun(ctx, starter, null, null, wishes).catch((error: Error) => {
      if (error.message === ALL_RESERVED) this.#world.note('fleet full')
      else if (error.message.startsWith('You can start')) this.#world.note('start limit reached')
      throw error
    })
    this.#world.note('started')
  }

  /** A run of their own image that ends with its program. */
  async run(stopAfterMs: number | null): Promise<void> {
    const wishes = { ...NO_WISHES, environment: OWN.name, untilExit: true, command: ['pytest', '-q'], stopAfterMs }
    await startRun(this.#world.ctx, { user: this.user }, null, null, wishes)
    this.#world.note('program started')
  }

  async stop(): Promise<void> {
    const run = await this.live()
    if (!run) return
    const { id: runId, placeId } = run
    if (run.runningAt === null) this.#world.note('stop during launch')
    else if (run.billedFrom === null) this.#world.note('stop while the image loads')
    this.asked.add(runId)
    const stopped = await stopRun(this.#world.ctx, this.user.id, { runId, placeId })
    // A stop may have been accepted before, by another tab or by the product.
    const at = stopped.run.stopRequestedAt ?? this.#world.clock.ms
    this.stopped.set(runId, Math.min(at, this.stopped.get(runId) ?? Infinity))
  }

  async join(wishes: Partial<RunWishes>, startsByItself: boolean): Promise<void> {
    await joinLine(this.#world.ctx, { user: this.user }, { ...NO_WISHES, ...wishes }, startsByItself)
    this.#world.note('joined the line')
  }

  async leave(): Promise<void> {
    await leaveLine(this.#world.ctx, this.user.id)
  }

  /** @param inMs from now; null: no end */
  async moveEnd(inMs: number | null): Promise<void> {
    const run = await this.live()
    if (!run) return
    const { ctx, clock } = this.#world
    const ends_at = inMs === null ? null : new Date(clock.ms + inMs).toISOString()
    await this.#moveTo(run.id, () => changeRun(ctx, { user: this.user }, run.id, { ends_at }))
    this.#world.note(ends_at === null ? 'end removed' : run.endsAt === null ? 'end set later' : 'end moved')
  }

  /** With the link in the email, whose page shows the present end. */
  async extend(): Promise<void> {
    const run = await this.live()
    if (!run?.endsAt) return
    const { ctx } = this.#world
    const key = runLinkPath(ctx.config.secretKey, 'extend', run.id).split('key=')[1] ?? ''
    const input = { key, endsAt: new Date(run.endsAt).toISOString(), caller: { address: null } }
    await this.#moveTo(run.id, () => extendByLink(ctx, run.id, input))
    this.#world.note('end extended by the email')
  }

  /** Of two moves at once, nobody knows which one counts. */
  async #moveTo(runId: string, move: () => Promise<{ endsAt: number | null }>): Promise<void> {
    this.ends.delete(runId)
    const nth = ++this.#moves
    const isAlone = this.#moving++ === 0
    try {
      const { endsAt } = await move()
      if (isAlone && nth === this.#moves) this.ends.set(runId, endsAt)
    } finally {
      this.#moving--
    }
  }

  async openCheckout(planType: string): Promise<void> {
    const before = this.openPages().length
    const { url } = await createCheckout(this.#world.ctx, this.user, { planType })
    this.#pages.add(url)
    if (before > 0) this.#world.note('checkout reopened')
  }

  /** On Stripe's page, which knows nothing about us. */
  pay(random: Random, declinedLater: boolean): void {
    this.#world.stripe.passTime()
    const page = random.pick(this.openPages())
    if (!page) return
    // A random choice would change every seed.
    const chargeUsage = ['yes', 'no', '', 'yes'][this.#world.clock.ms % 4] ?? ''
    this.#world.stripe.pay(page.id, declinedLater ? 'declined_later' : 'good', { chargeUsage })
    this.#world.note(this.closedAt === null ? 'paid for a plan' : 'paid for a plan after closing')
  }

  async cancel(): Promise<void> {
    await this.decides('cancel', () => cancelAtPeriodEnd(this.#world.ctx, this.user))
  }

  /** Changes their plan. Of two changes at once, nobody knows which one counts. */
  async decides(what: Decision['what'], run: () => Promise<unknown>): Promise<void> {
    this.decision = null
    const nth = ++this.#decisions
    const plan = this.subscription()
    const was = plan?.items.data[0]?.price.lookup_key ?? null
    try {
      await run()
      if (plan && nth === this.#decisions)
        this.decision = { what, subscription: plan.id, was, at: this.#world.clock.ms }
    } finally {
      const { decision } = this as { decision: Decision | null }
      if (decision?.what !== what) this.decision = null
    }
  }

  payBill(random: Random): void {
    this.#payInvoice(random.pick(this.openInvoices().filter(({ parent }) => parent === null)))
  }

  /** The latest invoice of their plan, which our page finalizes, or that of a plan that has ended. */
  payPlan(): void {
    const { stripe } = this.#world
    const latest = stripe.invoices().find(({ id }) => id === this.subscription()?.latest_invoice)
    if (latest?.status === 'draft') stripe.act((account) => finalizeInvoice(account, latest.id))
    const open = this.openInvoices().filter(({ parent }) => parent !== null)
    this.#payInvoice(open.find(({ id }) => id === latest?.id) ?? open[0])
  }

  #payInvoice(invoice: Invoice | undefined): void {
    if (!invoice) return
    this.#world.stripe.payInvoice(invoice.id)
    const isUpgrade = invoice.billing_reason === 'subscription_update'
    if (isUpgrade) this.decision = null
    this.#world.note(isUpgrade ? 'upgrade confirmed' : invoice.parent ? 'plan paid late' : 'bill paid')
  }

  async close(): Promise<void> {
    const [row] = await this.#world.database.db.select().from(users).where(eq(users.id, this.user.id))
    // Closing has signed them out everywhere.
    if (row?.closedAt !== null) return
    const isLive = (await this.live()) !== null
    if (this.openPages().length > 0) this.#world.note('closed with an open checkout')
    this.closes = true
    await closeAccount(this.#world.ctx, this.user, { current_password: PASSWORD })
    this.#world.note(isLive ? 'closed with a server' : 'closed')
  }

  /** Their only plan at Stripe that has not ended. */
  subscription(): Subscription | undefined {
    const mine = this.#world.stripe
      .subscriptions()
      .filter(({ metadata, status }) => metadata.user_id === this.user.id && status !== 'canceled')
    return mine.length === 1 ? mine[0] : undefined
  }

  customer(): string | undefined {
    return this.#world.stripe.customers().find(({ metadata }) => metadata.user_id === this.user.id)?.id
  }

  /** The checkout pages that they can still pay on. */
  openPages() {
    return this.#world.stripe.checkouts().filter(({ url, status }) => status === 'open' && this.#pages.has(url ?? ''))
  }

  /** What they could pay at Stripe. */
  openInvoices() {
    const customer = this.customer()
    return this.#world.stripe
      .invoices()
      .filter((one) => one.customer === customer && (one.status === 'open' || one.status === 'uncollectible'))
  }
}

/** Someone who has just confirmed their address, and so has a trial, or had a plan that has ended. */
export async function newPerson(world: World, name: string, behavior: Behavior, trial = true): Promise<Person> {
  const { db } = world.database
  const id = `user_${name}`
  const born = world.clock.ms - (trial ? 0 : DAY_MS)
  const user = { id, name, email: `${name.toLowerCase()}@example.com`, admin: false }
  await db.insert(users).values({ ...user, passwordHash: PASSWORD_HASH, createdAt: born, confirmedAt: born })
  const plan = { id: `sub_${name}`, userId: id }
  const began = born - 31 * DAY_MS
  await db.insert(plans).values(
    trial
      ? { ...plan, planType: 'demo', subType: 'demo', status: 'trialing', anchor: born, hours: 0.5, createdAt: born }
      : {
          ...plan,
          planType: 'basic',
          subType: 'paid',
          status: 'canceled',
          anchor: began,
          createdAt: began,
          endedAt: born - 1,
        },
  )
  return new Person(world, user, behavior, born)
}
