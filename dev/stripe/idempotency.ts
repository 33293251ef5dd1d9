import { createHash } from 'node:crypto'
import type { Account } from './account.ts'
import { Failure } from './failure.ts'

/** Stripe forgets keys after a day. */
const FORGOTTEN_AFTER = 86_400

export type Answer = { status: number; body: string }
type Kept = Answer & { fingerprint: string; created: number }

/** Returns this key's earlier answer. @throws Failure if the request differs */
export function replay(account: Account, key: string, request: string): Answer | null {
  const kept = account.store.get<Kept>('idempotency_keys', key)
  if (!kept || kept.created + FORGOTTEN_AFTER <= account.now()) return null
  if (kept.fingerprint !== fingerprint(request))
    throw new Failure(
      400,
      'idempotency_error',
      'Keys for idempotent requests can only be used with the same parameters they were first used with. ' +
        `Try using a key other than '${key}' if you meant to execute a different request.`,
    )
  return { status: kept.status, body: kept.body }
}

export function remember(account: Account, key: string, request: string, answer: Answer): void {
  account.store.put('idempotency_keys', key, {
    ...answer,
    fingerprint: fingerprint(request),
    created: account.now(),
  } satisfies Kept)
}

export function forgetOldKeys(account: Account): void {
  for (const [key, kept] of account.store.entries<Kept>('idempotency_keys')) {
    if (kept.created + FORGOTTEN_AFTER > account.now()) break
    account.store.remove('idempotency_keys', key)
  }
}

function fingerprint(request: string): string {
  return createHash('sha256').update(request).digest('hex')
}
