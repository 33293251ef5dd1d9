import type { StripeEvent } from '../../dev/stripe/objects.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { receiveStripeEvent } from '../../src/server/billing/stripe-events.ts'
import type { Task } from './program.ts'
import type { World } from './world.ts'

/** Stripe tries again for three days. */
const MOST_TRIES = 9

/** Of a refund, or of a dispute. */
const paymentOf = ({ data }: StripeEvent) => (data.object as { payment_intent?: string }).payment_intent

type Delivery = { event: StripeEvent; at: number; tries: number }

/** Stripe's events on their way to us: soon, late, twice, in another order, or never. */
export class Webhooks {
  #world: World
  #deliveries: Delivery[] = []
  /** The payments of which we'll never hear something. */
  #lost = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  moments(): number[] {
    return this.#deliveries.map(({ at }) => at)
  }

  /** Sends events for what has happened at Stripe since the last call. */
  collect(): void {
    const { stripe, weather, luck, clock } = this.#world
    for (const event of stripe.takeEvents()) {
      const chance = luck.next()
      const isCalm = weather === 'calm'
      const isLost = stripe.conditions.losesWebhooks || (!isCalm && chance < 0.05)
      const kind = isLost ? 'lost' : !isCalm && chance < 0.2 ? 'late' : 'soon'
      if (kind !== 'soon') this.#world.note(`webhook ${kind}`)
      if (kind === 'lost') {
        this.#lose(event)
        continue
      }
      const wait = kind === 'late' ? luck.between(MINUTE_MS, DAY_MS) : luck.between(200, 4_000)
      this.#deliveries.push({ event, tries: 0, at: clock.ms + wait })
    }
  }

  /** Whether we have yet to hear something of this payment, if ever. */
  owe(payment: string): boolean {
    return this.#lost.has(payment) || this.#deliveries.some(({ event }) => paymentOf(event) === payment)
  }

  #lose(event: StripeEvent): void {
    const payment = paymentOf(event)
    if (payment) this.#lost.add(payment)
  }

  /** Takes all events that arrive up to that moment. */
  due(until: number): Task[] {
    const due = this.#deliveries.filter(({ at }) => at <= until)
    this.#deliveries = this.#deliveries.filter((one) => !due.includes(one))
    return due.map((delivery) => ({ name: `webhook ${delivery.event.type}`, run: () => this.#deliver(delivery) }))
  }

  async #deliver({ event, tries }: Delivery): Promise<void> {
    const { ctx, stripe, clock } = this.#world
    try {
      await receiveStripeEvent(ctx, stripe.signed(event))
    } catch (error) {
      if (tries < MOST_TRIES) this.#deliveries.push({ event, tries: tries + 1, at: clock.ms + 5_000 * 5 ** tries })
      else {
        this.#lose(event)
        this.#world.calm.disturb()
      }
      throw error
    }
    const { weather, luck } = this.#world
    if (tries === 0 && weather !== 'calm' && luck.chance(0.15)) {
      this.#world.note('webhook doubled')
      this.#deliveries.push({ event, tries: MOST_TRIES, at: clock.ms + luck.between(1, 2 * HOUR_MS) })
    }
  }
}
