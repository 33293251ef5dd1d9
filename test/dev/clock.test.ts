import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openClock } from '../../dev/clock.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

test('the stand-ins follow once the Worker knows, and moves at once add up', async () => {
  const path = join(temporaryFolder('clock'), 'offset')
  const clock = openClock(path)
  const told: [offset: number, own: number][] = []
  clock.onMove(async (offset) => told.push([offset, clock.offset()]))
  await Promise.all([clock.advance(30), clock.advance(60)])
  expect(told).toEqual([
    [30_000, 0],
    [90_000, 0],
  ])
  expect([clock.offset(), openClock(path).offset()]).toEqual([90_000, 90_000])
})
