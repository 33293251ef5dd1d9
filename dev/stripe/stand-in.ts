import { join } from 'node:path'
import { Calls } from '../stand-in/calls.ts'
import { Faults } from '../stand-in/faults.ts'
import { type Asked, listenWhereBefore, type Outcome, type StandInOptions } from '../stand-in/server.ts'
import { Store } from '../stand-in/store.ts'
import { Account } from './account.ts'
import { answerApi } from './api.ts'
import { expireCheckouts } from './checkout.ts'
import { answerHosted, moveHostedPages } from './hosted-pages.ts'
import { forgetOldKeys } from './idempotency.ts'
import { announceOverdue } from './overdue.ts'
import { seedPrices } from './prices.ts'
import { renewSubscriptions } from './subscriptions.ts'
import { Webhooks } from './webhooks.ts'

type StripeFault = 'error' | 'lost_response' | 'timeout'

type StripeCall = {
  method: string
  path: string
  idempotencyKey: string | undefined
  /** Null if the caller got no answer. */
  status: number | null
  replayed: boolean
}

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
  /** Processes renewals, expirations, and overdue invoices, then sends due webhooks. Also runs every second. */
  settle(): Promise<void>
  calls(): StripeCall[]
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
  const account = new Account(store, server.url, now)
  if (server.movedFrom) moveHostedPages(account, server.movedFrom)
  seedPrices(account)
  store.commit()

  let webhookUrl = options.webhookUrl
  const webhooks = new Webhooks(account, {
    url: () => webhookUrl,
    secret: options.webhookSecret ?? 'whsec_local',
    order: options.webhookOrder ?? 'in_order',
    log,
  })
  const calls = new Calls<StripeCall>()
  const faults = new Faults<{ fault: StripeFault }>(store)

  function passTime(): void {
    renewSubscriptions(account)
    expireCheckouts(account)
    announceOverdue(account)
    forgetOldKeys(account)
    store.commit()
  }

  function answerCall({ method, url, headers, body }: Asked): Outcome {
    const call: StripeCall = {
      method,
      path: url.pathname,
      idempotencyKey: headers['idempotency-key'] as string | undefined,
      status: null,
      replayed: false,
    }
    calls.add(call)
    const fault = faults.take()?.fault
    if (fault === 'timeout') return 'unanswered'
    if (fault === 'error') {
      call.status = 500
      const error = { type: 'api_error', message: 'An error occurred (injected).' }
      const headers = { 'content-type': 'application/json', 'stripe-should-retry': 'false' }
      return { status: 500, headers, body: JSON.stringify({ error }) }
    }
    const query = url.search.slice(1)
    const answer = answerApi(account, { ...call, query, body, authorization: headers.authorization })
    call.replayed = 'idempotent-replayed' in answer.headers
    if (fault === 'lost_response') return 'lost'
    call.status = answer.status
    return answer
  }

  server.serve((asked) => {
    passTime()
    const outcome = asked.url.pathname.startsWith('/v1/') ? answerCall(asked) : answerHosted(account, asked)
    store.commit()
    void webhooks.deliver()
    return outcome
  })

  async function settle(): Promise<void> {
    passTime()
    await webhooks.deliver()
  }
  const timer = setInterval(() => void settle(), 1000)
  timer.unref()

  return {
    apiBase: server.url,
    inject: (fault, times = 1, after = 0) => faults.add({ fault }, times, after),
    heal: () => faults.heal(),
    setWebhookUrl(url) {
      webhookUrl = url
      void webhooks.deliver()
    },
    settle,
    calls: () => calls.latest(),
    async close() {
      clearInterval(timer)
      await webhooks.close()
      await server.close()
    },
  }
}
