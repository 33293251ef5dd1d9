import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DURATION, drone, ground, INSTRUMENTS, readings, sweeps, trail } from '../../../src/islands/hero/scene.ts'

const time = fc.double({ min: 0, max: DURATION, noNaN: true })

test('the drone never touches the ground and never jumps', () => {
  fc.assert(
    fc.property(time, (t) => {
      const [x, y, z] = drone(t).at
      expect(y - ground(x, z)).toBeGreaterThan(1)
      const [x2, y2, z2] = drone(Math.min(DURATION, t + 0.02)).at
      expect(Math.hypot(x2 - x, y2 - y, z2 - z)).toBeLessThan(0.12)
    }),
  )
})

test('what was mapped stays mapped', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      const before = sweeps(Math.min(a, b))
      const after = sweeps(Math.max(a, b))
      before.forEach((row, i) => {
        expect(after[i]?.z).toBe(row.z)
        expect((after[i]?.to ?? 0) - (after[i]?.from ?? 0)).toBeGreaterThanOrEqual(row.to - row.from - 1e-9)
      })
    }),
  )
})

test('the same time yields the same scene, to the last digit', () => {
  expect(readings(24.6, 0.0004861)).toEqual(readings(24.6, 0.0004861))
  expect(trail(12, 30)).toEqual(trail(12, 30))
})

test('the instruments at the end: everything mapped, the price by the second', () => {
  const values = readings(DURATION, 0.0004861)
  expect(Object.fromEntries(INSTRUMENTS.map((name, i) => [name, values[i]]))).toMatchObject({
    COVERED: '100 %',
    RETURNS: '4,320',
    COST: '$0.0224',
  })
})
