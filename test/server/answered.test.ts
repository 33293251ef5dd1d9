import { afterEach, expect, test, vi } from 'vitest'
import { answered } from '../../src/server/answered.ts'

vi.useFakeTimers()
afterEach(() => void vi.clearAllTimers())

const BUSY = {
  code: 'unavailable',
  message: "We're handling a lot of requests right now. Please try again in a moment.",
  retryAfter: 5,
}

test('waits 15 seconds for a silent hasher or counter, then tells the person when to try again', async () => {
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

test('an answer leaves no timer behind, and a failure counts as busy, like silence', async () => {
  expect(await answered(Promise.resolve(7))).toBe(7)
  await expect(answered(Promise.reject(new Error('overloaded')))).rejects.toMatchObject(BUSY)
  expect(vi.getTimerCount()).toBe(0)
})
