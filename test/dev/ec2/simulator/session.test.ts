import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flightCsv } from '../../../../dev/ec2/simulator/csv.ts'
import { Session } from '../../../../dev/ec2/simulator/session.ts'
import { NEUTRAL, STEPS_PER_SECOND } from '../../../../dev/ec2/simulator/vehicle.ts'
import { worlds } from '../../../../dev/ec2/simulator/worlds.ts'

const ahead = { ...NEUTRAL, forward: 1 }
const bits = (value: unknown) => JSON.stringify(value)

function flown(seconds: number, onAutopilot = false): Session {
  const session = new Session(worlds.blocks, 'uav', onAutopilot)
  for (let i = 0; i < seconds * 20; i++) session.pass(0.05, ahead)
  return session
}

test('the frame rate changes nothing, not even for the autopilot', () => {
  const cuts = fc.array(fc.double({ min: 0.001, max: 0.09, noNaN: true }), { minLength: 5, maxLength: 80 })
  fc.assert(
    fc.property(cuts, (frames) => {
      const session = new Session(worlds.neighborhood, 'ugv', true)
      for (const seconds of frames) session.pass(seconds, NEUTRAL)
      const other = new Session(worlds.neighborhood, 'ugv', true)
      while (other.shown.step < session.shown.step) other.pass(1 / STEPS_PER_SECOND, NEUTRAL)
      expect(bits(other.shown)).toBe(bits(session.shown))
      expect(bits(other.lidar.points)).toBe(bits(session.lidar.points))
    }),
    { numRuns: 20 },
  )
})

test('a hidden page does not catch up', () => {
  const session = flown(0)
  session.pass(60, ahead)
  expect(session.shown.step).toBeLessThanOrEqual(0.1 * STEPS_PER_SECOND)
})

test('nothing moves while paused', () => {
  const session = flown(1)
  session.paused = true
  const before = bits(session.shown)
  session.pass(0.1, ahead)
  expect(bits(session.shown)).toBe(before)
})

test('a replay shows the same flight from its start, stops at its end, and returns to it', () => {
  const session = flown(3, true)
  const end = bits(session.shown)
  session.replay()
  expect(session.shown.step).toBe(0)
  for (let i = 0; i < 80; i++) session.pass(0.05, ahead)
  expect(bits(session.shown)).toBe(end)
  session.seek(STEPS_PER_SECOND)
  expect(session.shown.step).toBe(STEPS_PER_SECOND)
  session.backToFlight()
  expect(bits(session.shown)).toBe(end)
  session.pass(0.05, ahead)
  expect(session.flight.end.step).toBeGreaterThan(3 * STEPS_PER_SECOND - 2)
})

test('a reset starts a new flight at the first gate, in the world and vehicle you choose', () => {
  const session = flown(2)
  const start = bits(session.flight.at(0))
  session.reset()
  expect(session.flight.end.step).toBe(0)
  expect(bits(session.shown)).toBe(start)
  expect(session.trail).toEqual([])
  session.reset(worlds.mountains, 'ugv')
  expect([session.world.id, session.kind, session.flight.model.name]).toEqual(['mountains', 'ugv', 'UGV'])
})

test('the CSV has 20 rows a second and the last moment, from the stick inputs alone', () => {
  const session = flown(2)
  while (session.shown.step % 6 !== 2) session.pass(1 / STEPS_PER_SECOND, ahead)
  const text = flightCsv(session.flight)
  const rows = text.trimEnd().split('\r\n')
  const names = (rows[0] ?? '').split(',')
  const { end } = session.flight
  expect(rows).toHaveLength(1 + Math.floor(end.step / 6) + 1 + 1)
  expect(rows.every((row) => row.split(',').length === names.length)).toBe(true)
  const last = Object.fromEntries((rows.at(-1) ?? '').split(',').map((value, i) => [names[i], value]))
  expect(last).toMatchObject({
    time_s: (end.step / STEPS_PER_SECOND).toFixed(3),
    z_m: end.vehicle.z.toFixed(3),
    stick_forward: '1.00',
  })
  expect(Number((rows[1] ?? '').split(',')[0])).toBe(0)
  expect(flightCsv(session.flight)).toBe(text)
})

test('a flight without a step has one row', () => {
  expect(flightCsv(flown(0).flight).trimEnd().split('\r\n')).toHaveLength(2)
})
