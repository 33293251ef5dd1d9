import { randomBytes } from 'node:crypto'
import type { Store } from '../stand-in/store.ts'
import type { StripeEvent } from './objects.ts'

export const API_VERSION = '2026-10-28.endive'

/** Shared by every part of the stand-in: the objects, the clock in whole seconds, and the base URL. */
export class Account {
  readonly store: Store
  readonly apiBase: string
  private readonly clock: () => number

  constructor(store: Store, apiBase: string, clock: () => number) {
    this.store = store
    this.apiBase = apiBase
    this.clock = clock
  }

  now(): number {
    return Math.floor(this.clock() / 1000)
  }

  newId(prefix: string): string {
    return `${prefix}_${randomBytes(12).toString('hex')}`
  }

  /** Queues a webhook. Pass `created` when time alone caused the event: we may notice it late. */
  announce(type: string, object: unknown, created = this.now()): void {
    const event: StripeEvent = {
      id: this.newId('evt'),
      object: 'event',
      api_version: API_VERSION,
      created,
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
      data: { object: structuredClone(object) },
    }
    this.store.put('events', event.id, event)
    this.store.put('deliveries', event.id, { event: event.id, attempts: 0, nextAt: 0 })
  }
}
