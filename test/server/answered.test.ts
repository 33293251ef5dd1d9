import { afterEach, expect, test, vi } from 'vitest'
import { answered } from '../../src/server/answered.ts'

vi.useFakeTimers()
afterEach(() => void vi.clearAllTimers())

const BUSY = {
  code: 'unavailable',
  message: "We're handling a lot of requests right now. Please try again in a moment.",
  retryAfter: 5,
}

test('an object that never answers, a hasher or a counter, is waited for 15 seconds, then the person hears when to try again', async () => {
  let heard: unknown = null
  const waiting = answered(new Promise(() => {})).catch((error) => {
    heard = error
  })
  await vi.advanceTimersByTimeAsync(14_999)
  expect(heard).toBeNull()
  await vi.advanceTimersByTimeAsync(1)
  expect(heard).toMatchObject(BUSY)
  await waiting
})

test('one that answers leaves no timer behind, and one that fails is as busy as a silent one', async () => {
  expect(await answered(Promise.resolve(7))).toBe(7)
  await expect(answered(Promise.reject(new Error('overloaded')))).rejects.toMatchObject(BUSY)
  expect(vi.getTimerCount()).toBe(0)
})
