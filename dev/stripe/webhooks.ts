import { createHmac } from 'node:crypto'
import type { Account } from './account.ts'
import type { StripeEvent } from './objects.ts'

type Delivery = { event: string; attempts: number; nextAt: number }

/** Seconds before each retry. After the last, about three days in, we drop the event. */
const BACKOFF = [1, 5, 30, 300, 1800, 7200, 21_600, 43_200, 86_400, 86_400]
const TIMEOUT_MS = 15_000

export type WebhookOptions = {
  url: () => string | undefined
  secret: string
  order: 'in_order' | 'shuffled'
  log: (line: string) => void
}

/** Sends events one at a time and retries until a 2xx. As with Stripe, they may arrive late or twice. */
export class Webhooks {
  private readonly account: Account
  private readonly options: WebhookOptions
  private running: Promise<void> | undefined
  private closed = false

  constructor(account: Account, options: WebhookOptions) {
    this.account = account
    this.options = options
  }

  /** Sends due events. Resolves once none are left. */
  deliver(): Promise<void> {
    this.running ??= this.deliverDue().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  async close(): Promise<void> {
    this.closed = true
    await this.running
  }

  private async deliverDue(): Promise<void> {
    for (let due = this.nextDue(); due && !this.closed; due = this.nextDue()) await this.attempt(due)
  }

  private nextDue(): Delivery | undefined {
    if (!this.options.url()) return undefined
    const due = this.account.store.all<Delivery>('deliveries').filter((d) => d.nextAt <= this.account.now())
    return due[this.options.order === 'shuffled' ? Math.floor(Math.random() * due.length) : 0]
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const { store } = this.account
    const event = store.get<StripeEvent>('events', delivery.event)
    if (event && !(await this.send(event))) {
      const wait = BACKOFF[delivery.attempts]
      if (wait !== undefined) {
        store.put('deliveries', delivery.event, {
          event: delivery.event,
          attempts: delivery.attempts + 1,
          nextAt: this.account.now() + wait,
        } satisfies Delivery)
        store.commit()
        return
      }
      this.options.log(`webhook ${event.type} ${event.id} given up`)
    }
    store.remove('deliveries', delivery.event)
    store.commit()
  }

  private async send(event: StripeEvent): Promise<boolean> {
    const payload = JSON.stringify(event)
    try {
      const response = await fetch(this.options.url() as string, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': signature(payload, this.options.secret, this.account.now()),
          'user-agent': 'Stripe/1.0 (stand-in)',
        },
        body: payload,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.arrayBuffer()
      if (!response.ok)
        this.options.log(`webhook ${event.type} ${event.id}: HTTP ${response.status}, will be sent again`)
      return response.ok
    } catch {
      this.options.log(`webhook ${event.type} ${event.id}: no answer, will be sent again`)
      return false
    }
  }
}

export function signature(payload: string, secret: string, timestamp: number): string {
  const v1 = createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')
  return `t=${timestamp},v1=${v1}`
}
