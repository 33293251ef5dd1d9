import { afterEach, expect, test, vi } from 'vitest'
import { answered } from '../../../src/server/runtime/answered.ts'

vi.useFakeTimers()
afterEach(() => void vi.clearAllTimers())

const BUSY = {
  code: 'unavailable',
  message: "We're handling a lot of requests right now. Please try again in a moment.",
  retryAfter: 5,
}
/** Fails as often as there are failures, then answers. */
function callThat(...failures: unknown[]) {
  const call = vi.fn(async () => {
    const failure = failures.shift()
    if (failure) throw failure
    return 7
  })
  return call
}
const passing = () => Object.assign(new Error('Network connection lost.'), { retryable: true })

test('waits 15 seconds for a silent hasher or counter, then tells the person when to try again', async () => {
  let heard: unknown = null
  const waiting = answered(() => new Promise(() => {}), true).catch((error) => {
    heard = error
  })
  await vi.advanceTimersByTimeAsync(14_999)
  expect(heard).toBeNull()
  await vi.advanceTimersByTimeAsync(1)
  expect(heard).toMatchObject(BUSY)
  await waiting
})

test('an answer leaves no timer behind, and a failure counts as busy, like silence', async () => {
  expect(await answered(callThat(), true)).toBe(7)
  await expect(answered(callThat(new Error('Our own mistake')), true)).rejects.toMatchObject(BUSY)
  // As under `npm run dev`, where a stub is a proxy.
  const thrown = () => {
    throw new Error('Network connection lost.')
  }
  await expect(answered(thrown, true)).rejects.toMatchObject(BUSY)
  expect(vi.getTimerCount()).toBe(0)
})

test('repeats a call once, a moment later, if the platform says that it may pass', async () => {
  const once = callThat(passing())
  const answer = answered(once, true)
  await vi.advanceTimersByTimeAsync(99)
  expect(once).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(await answer).toBe(7)

  const forGood = callThat(passing(), passing())
  const failure = expect(answered(forGood, true)).rejects.toMatchObject(BUSY)
  await vi.advanceTimersByTimeAsync(10_000)
  await failure
  expect(forGood).toHaveBeenCalledTimes(2)
})

test.each([
  ['overloaded', Object.assign(passing(), { overloaded: true }), true],
  ['broken by our own mistake', new Error('Our own mistake'), true],
  ['asked for something that must not happen twice', passing(), false],
])('makes no second call to an object that is %s', async (_, failure, repeatable) => {
  const call = callThat(failure)
  const refused = expect(answered(call, repeatable)).rejects.toMatchObject(BUSY)
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  expect(call).toHaveBeenCalledTimes(1)
})
