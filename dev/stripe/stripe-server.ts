import { Calls } from '../stand-in/calls.ts'
import { Faults } from '../stand-in/faults.ts'
import type { Asked, Outcome } from '../stand-in/server.ts'
import type { Store } from '../stand-in/store.ts'
import { Account } from './account.ts'
import { answerApi, failOnce } from './api.ts'
import { expireCheckouts } from './checkout.ts'
import { chargeDue, endDebits } from './collecting.ts'
import { answerHosted } from './hosted-pages.ts'
import { forgetOldKeys } from './idempotency.ts'
import { announceOverdue } from './overdue.ts'
import { expirePendingUpdates } from './pending-updates.ts'
import { addMissingLines } from './plan-invoices.ts'
import { seedPrices } from './prices.ts'
import { renewSubscriptions } from './subscriptions.ts'

export type StripeFault = 'error' | 'lost_response' | 'timeout'

export type StripeCall = {
  method: string
  path: string
  idempotencyKey: string | undefined
  /** Null if the caller got no answer. */
  status: number | null
  replayed: boolean
}

/** Answers API calls and the pages that Stripe hosts. Nothing here awaits or listens, so every change is atomic. */
export class StripeServer {
  readonly account: Account
  readonly calls = new Calls<StripeCall>()
  readonly faults: Faults<{ fault: StripeFault }>
  /** How long after the end of a period its renewal happens, in seconds. */
  renewsLateBy = 0

  constructor(store: Store, apiBase: string, now: () => number) {
    this.account = new Account(store, apiBase, now)
    this.faults = new Faults(store)
    seedPrices(this.account)
    addMissingLines(this.account)
  }

  answer(asked: Asked): Outcome {
    this.passTime()
    return asked.url.pathname.startsWith('/v1/') ? this.#answerCall(asked) : answerHosted(this.account, asked)
  }

  /** Processes renewals, expirations, charges, and overdue invoices. */
  passTime(): void {
    expirePendingUpdates(this.account)
    renewSubscriptions(this.account, this.renewsLateBy)
    expireCheckouts(this.account)
    endDebits(this.account)
    chargeDue(this.account)
    announceOverdue(this.account)
    forgetOldKeys(this.account)
  }

  #answerCall({ method, url, headers, body }: Asked): Outcome {
    const call: StripeCall = {
      method,
      path: url.pathname,
      idempotencyKey: headers['idempotency-key'] as string | undefined,
      status: null,
      replayed: false,
    }
    this.calls.add(call)
    const fault = this.faults.take()?.fault
    if (fault === 'timeout') return 'unanswered'
    if (fault === 'error') {
      call.status = 500
      const answer = failOnce(this.account, { ...call, body })
      return { ...answer, headers: { ...answer.headers, 'stripe-should-retry': 'false' } }
    }
    const query = url.search.slice(1)
    const answer = answerApi(this.account, { ...call, query, body, authorization: headers.authorization })
    call.replayed = 'idempotent-replayed' in answer.headers
    if (fault === 'lost_response') return 'lost'
    call.status = answer.status
    return answer
  }
}
