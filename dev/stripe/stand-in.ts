import { join } from 'node:path'
import { type Asked, listenWhereBefore, type Outcome, type StandInOptions } from '../stand-in/server.ts'
import { Store } from '../stand-in/store.ts'
import { moveHostedPages } from './hosted-pages.ts'
import type { DisputeStatus } from './objects.ts'
import { changeDispute, failRefund, openDispute } from './reversals.ts'
import { type StripeCall, type StripeFault, StripeServer } from './stripe-server.ts'
import { Webhooks } from './webhooks.ts'

export type StripeStandIn = {
  /** Goes in STRIPE_API_BASE. */
  apiBase: string
  /**
   * Skips `after` API calls, then fails the next `times`: `error` does nothing and answers 500, `lost_response` runs
   * the call and hangs up, `timeout` does nothing and never answers.
   */
  inject(fault: StripeFault, times?: number, after?: number): void
  /** Cancels all pending faults. */
  heal(): void
  setWebhookUrl(url: string): void
  /** Renews plans this long after the end of a period, as Stripe may. */
  renewLateBy(seconds: number): void
  /** A customer disputes a payment at their bank, which may inquire first. @returns the dispute's id */
  dispute(invoiceId: string, status?: 'needs_response' | 'warning_needs_response'): string
  changeDispute(id: string, status: DisputeStatus): void
  /** A refund that succeeded comes back. */
  failRefund(id: string): void
  /** Processes renewals, expirations, and overdue invoices, then sends due webhooks. Also runs every second. */
  settle(): Promise<void>
  calls(): StripeCall[]
  /** What it answers over HTTP, for callers in its process. */
  answer(asked: Asked): Outcome
  close(): Promise<void>
}

export type StripeOptions = StandInOptions & {
  webhookUrl?: string
  webhookSecret?: string
  webhookOrder?: 'in_order' | 'shuffled'
}

/** Serves the part of Stripe's API the product uses, plus the checkout and invoice pages. */
export async function startStripe(options: StripeOptions): Promise<StripeStandIn> {
  const { dataDir, now = Date.now, log = () => {} } = options
  const store = new Store(join(dataDir, 'stripe.jsonl'))
  const server = await listenWhereBefore(store)
  const stripe = new StripeServer(store, server.url, now)
  const { account } = stripe
  if (server.movedFrom) moveHostedPages(account, server.movedFrom)
  store.commit()

  let webhookUrl = options.webhookUrl
  const webhooks = new Webhooks(account, {
    url: () => webhookUrl,
    secret: options.webhookSecret ?? 'whsec_local',
    order: options.webhookOrder ?? 'in_order',
    log,
  })
  function answer(asked: Asked): Outcome {
    const outcome = stripe.answer(asked)
    store.commit()
    void webhooks.deliver()
    return outcome
  }
  server.serve(answer)

  function act<T>(what: () => T): T {
    const result = what()
    store.commit()
    return result
  }

  async function settle(): Promise<void> {
    stripe.passTime()
    store.commit()
    await webhooks.deliver()
  }
  const timer = setInterval(() => void settle(), 1000)
  timer.unref()

  return {
    apiBase: server.url,
    inject: (fault, times = 1, after = 0) => stripe.faults.add({ fault }, times, after),
    heal: () => stripe.faults.heal(),
    setWebhookUrl(url) {
      webhookUrl = url
      void webhooks.deliver()
    },
    renewLateBy(seconds) {
      stripe.renewsLateBy = seconds
    },
    dispute: (invoiceId, status) => act(() => openDispute(account, invoiceId, status).id),
    changeDispute: (id, status) => void act(() => changeDispute(account, id, status)),
    failRefund: (id) => act(() => failRefund(account, id)),
    settle,
    calls: () => stripe.calls.latest(),
    answer,
    async close() {
      clearInterval(timer)
      await webhooks.close()
      await server.close()
    },
  }
}
