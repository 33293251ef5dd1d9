import { expect, test, vi } from 'vitest'
import { renewUntil } from '../../cli/src/files/reconnect.ts'

const clock = vi.hoisted(() => ({ now: 0, onLook: () => {} }))
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    clock.now += ms
    clock.onLook()
  },
}))

test('asks for credentials twice a minute at most, even if they always seem to have ended', async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => clock.now)
  const ended = new AbortController()
  clock.onLook = () => {
    if (clock.now >= 300_000) ended.abort()
  }
  const times: number[] = []
  await renewUntil(ended.signal, 0, async () => {
    times.push(clock.now)
    return 0
  })
  expect(times.slice(0, 3)).toEqual([1_000, 31_000, 61_000])
  expect(times).toHaveLength(10)
})
