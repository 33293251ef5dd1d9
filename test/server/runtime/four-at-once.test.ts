import { expect, test } from 'vitest'
import { fourAtOnce } from '../../../src/server/runtime/four-at-once.ts'

test('runs four at once, the next as soon as one is done, and throws a failure once all were tried', async () => {
  const done: number[] = []
  const running = { now: 0, most: 0 }
  const work = async (i: number) => {
    running.most = Math.max(running.most, ++running.now)
    // The first takes longer than all others combined.
    for (let turn = 0; turn < (i === 0 ? 50 : 1); turn++) await new Promise((next) => setImmediate(next))
    running.now--
    if (i % 4 === 2) throw new Error(`${i}`)
    done.push(i)
  }
  const items = Array.from({ length: 11 }, (_, i) => i)
  await expect(fourAtOnce(items, work)).rejects.toThrow('2')
  expect(done).toEqual([1, 3, 4, 5, 7, 8, 9, 0])
  expect(running.most).toBe(4)
  await fourAtOnce([], work)
})
