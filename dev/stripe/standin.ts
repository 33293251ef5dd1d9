import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Account } from './account.ts'
import { answerApi } from './api.ts'
import { expireCheckouts } from './checkout.ts'
import { answerHosted } from './hosted-pages.ts'
import { forgetOldKeys } from './idempotency.ts'
import { listenWhereBefore } from './listen.ts'
import { announceOverdue } from './overdue.ts'
import { DEFAULT_PRICES, type PriceSeed, seedPrices } from './prices.ts'
import { Store } from './store.ts'
import { renewSubscriptions } from './subscriptions.ts'
import { Webhooks } from './webhooks.ts'

type StripeFault = 'error' | 'lost_response' | 'timeout'

type StripeCall = {
  method: string
  path: string
  idempotencyKey: string | undefined
  /** Null: the caller never got an answer. */
  status: number | null
  replayed: boolean
}

export type StripeStandIn = {
  /** What STRIPE_API_BASE names. */
  apiBase: string
  /**
   * Makes `times` calls of the API fail, after letting `after` pass: `error` answers 500 and does nothing, `lost_response` does it
   * and hangs up, `timeout` does nothing and never answers.
   */
  inject(fault: StripeFault, times?: number, after?: number): void
  /** Takes back what was injected and has not happened yet. */
  heal(): void
  setWebhookUrl(url: string): void
  /** What the clock brings (renewals, expiries, overdue invoices), then every webhook that is due. Happens by itself each second. */
  settle(): Promise<void>
  /** The calls of the API since the start, oldest first. */
  calls(): StripeCall[]
  close(): Promise<void>
}

export type StripeOptions = {
  dataDir: string
  port?: number
  /** ms since 1970 */
  now?: () => number
  webhookUrl?: string
  webhookSecret?: string
  webhookOrder?: 'in_order' | 'shuffled'
  prices?: PriceSeed[]
  log?: (line: string) => void
}

/** A server that speaks as much of Stripe's API as the product uses, keeps its objects in a folder, and hosts checkout and invoice pages. */
export async function startStripe(options: StripeOptions): Promise<StripeStandIn> {
  const store = new Store(options.dataDir)
  const server = createServer()
  const apiBase = await listenWhereBefore(server, store, options.port)
  const account = new Account(store, apiBase, options.now ?? Date.now)
  seedPrices(account, options.prices ?? DEFAULT_PRICES)
  account.store.commit()

  let webhookUrl = options.webhookUrl
  const webhooks = new Webhooks(account, {
    url: () => webhookUrl,
    secret: options.webhookSecret ?? 'whsec_local',
    order: options.webhookOrder ?? 'in_order',
    log: options.log ?? (() => {}),
  })
  const calls: StripeCall[] = []
  const faults: { fault: StripeFault; times: number; after: number }[] = []

  function passTime(): void {
    renewSubscriptions(account)
    expireCheckouts(account)
    announceOverdue(account)
    forgetOldKeys(account)
    account.store.commit()
  }

  function nextFault(): StripeFault | undefined {
    const [first] = faults
    if (!first) return undefined
    if (first.after > 0) {
      first.after -= 1
      return undefined
    }
    first.times -= 1
    if (first.times <= 0) faults.shift()
    return first.fault
  }

  function answerCall(request: IncomingMessage, response: ServerResponse, body: string): void {
    const url = new URL(request.url ?? '/', apiBase)
    const call: StripeCall = {
      method: request.method ?? 'GET',
      path: url.pathname,
      idempotencyKey: request.headers['idempotency-key'] as string | undefined,
      status: null,
      replayed: false,
    }
    calls.push(call)
    const fault = nextFault()
    if (fault === 'timeout') return
    if (fault === 'error') {
      call.status = 500
      const error = { type: 'api_error', message: 'An error occurred (injected).' }
      response.writeHead(500, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
      response.end(JSON.stringify({ error }))
      return
    }
    const answer = answerApi(account, {
      ...call,
      query: url.search.slice(1),
      body,
      authorization: request.headers.authorization,
    })
    account.store.commit()
    call.replayed = 'idempotent-replayed' in answer.headers
    if (fault === 'lost_response') {
      response.destroy()
      return
    }
    call.status = answer.status
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
  }

  function answerPage(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { pathname } = new URL(request.url ?? '/', apiBase)
    const answer = answerHosted(account, request.method ?? 'GET', pathname, new URLSearchParams(body))
    account.store.commit()
    if (!answer) response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found')
    else if ('location' in answer) response.writeHead(303, { location: answer.location }).end()
    else response.writeHead(answer.status, { 'content-type': 'text/html; charset=utf-8' }).end(answer.body)
  }

  server.on('request', (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      passTime()
      if (request.url?.startsWith('/v1/')) answerCall(request, response, body)
      else answerPage(request, response, body)
      void webhooks.deliver()
    })
  })

  async function settle(): Promise<void> {
    passTime()
    await webhooks.deliver()
  }
  const timer = setInterval(() => void settle(), 1000)
  timer.unref()

  return {
    apiBase,
    inject: (fault, times = 1, after = 0) => void faults.push({ fault, times, after }),
    heal: () => void faults.splice(0),
    setWebhookUrl(url) {
      webhookUrl = url
      void webhooks.deliver()
    },
    settle,
    calls: () => [...calls],
    async close() {
      clearInterval(timer)
      await webhooks.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
