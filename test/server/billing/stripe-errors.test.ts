import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { withKey } from '../../../src/server/billing/stripe-errors.ts'

const { StripeAPIError, StripeCardError, StripeIdempotencyError } = Stripe.errors
const failed = (replayed: boolean, statusCode = 500) => {
  const raw = { message: 'no', statusCode, headers: replayed ? { 'idempotent-replayed': 'true' } : {} }
  return statusCode === 402 ? new StripeCardError(raw as never) : new StripeAPIError(raw as never)
}

/** Answers in turn, and keeps the keys. */
function stripe(...answers: (Error | string)[]) {
  const keys: string[] = []
  const call = async ({ idempotencyKey }: { idempotencyKey: string }) => {
    keys.push(idempotencyKey)
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  return { keys, call }
}

test.each([500, 400])('a %s that Stripe repeats gets a key of its own, which nobody used before', async (status) => {
  const { keys, call } = stripe(failed(true, status), 'made', failed(true, status), 'made')
  for (const _ of [1, 2]) expect(await withKey('key', call)).toBe('made')
  expect(keys).toEqual(['key', expect.stringMatching(/^key:.{36}$/), 'key', expect.stringMatching(/^key:.{36}$/)])
  expect(keys[1]).not.toBe(keys[3])
})

test('a key under which an older version asked something else gets another one, unless that made it', async () => {
  const other = new StripeIdempotencyError({ message: 'other parameters', statusCode: 400 } as never)
  const { keys, call } = stripe(other, 'made', other)
  expect(await withKey('key', call)).toBe('made')
  expect(await withKey('key', call, async () => 'found')).toBe('found')
  expect(keys).toEqual(['key', expect.stringMatching(/^key:.{36}$/), 'key'])
})

test('what the earlier call made anyway is taken, and not made again', async () => {
  const { keys, call } = stripe(failed(true))
  expect(await withKey('key', call, async () => 'found')).toBe('found')
  expect(keys).toEqual(['key'])
})

test.each([
  ['its first fault', failed(false)],
  ['its first refusal', failed(false, 400)],
  ['a declined card that it repeats', failed(true, 402)],
])('%s is thrown as it is', async (_, error) => {
  const { keys, call } = stripe(error)
  await expect(withKey('key', call, async () => 'found')).rejects.toBe(error)
  expect(keys).toEqual(['key'])
})
