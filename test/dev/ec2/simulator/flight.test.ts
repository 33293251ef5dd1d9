import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Flight } from '../../../../dev/ec2/simulator/flight.ts'
import { type Kind, NEUTRAL, STEPS_PER_SECOND, type Stick } from '../../../../dev/ec2/simulator/vehicle.ts'
import { solid, type World } from '../../../../dev/ec2/simulator/world.ts'
import { worlds } from '../../../../dev/ec2/simulator/worlds.ts'

const kinds: Kind[] = ['uav', 'ugv']
const axis = fc.double({ min: -1, max: 1, noNaN: true })
const held = fc.record({
  stick: fc.record({ forward: axis, side: axis, turn: axis, climb: axis }),
  steps: fc.integer({ min: 1, max: 400 }),
})
const plan = fc.record({
  world: fc.constantFrom('blocks', 'neighborhood', 'mountains'),
  kind: fc.constantFrom(...kinds),
  sticks: fc.array(held, { minLength: 1, maxLength: 12 }),
})
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never

function fly({ world, kind, sticks }: Plan): Flight {
  const flight = new Flight(worlds[world], kind)
  for (const { stick, steps } of sticks) for (let i = 0; i < steps; i++) flight.fly(stick)
  return flight
}

const bits = (value: unknown) => JSON.stringify(value)

test('the same stick inputs give the same flight, to the last digit', () => {
  fc.assert(
    fc.property(plan, (given) => {
      expect(bits(fly(given).end)).toBe(bits(fly(given).end))
    }),
    { numRuns: 20 },
  )
})

test('any recomputed moment equals the one that was flown', () => {
  const moment = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(plan, moment, (given, share) => {
      const flight = new Flight(worlds[given.world], given.kind)
      const flown = [bits(flight.end)]
      for (const { stick, steps } of given.sticks) for (let i = 0; i < steps; i++) flown.push(bits(flight.fly(stick)))
      const step = Math.floor(share * flight.end.step)
      expect(bits(flight.at(step))).toBe(flown[step])
      expect(bits(flight.next(flight.at(step)))).toBe(flown[Math.min(step + 1, flight.end.step)])
    }),
    { numRuns: 40 },
  )
})

test('whatever the pilot does, a vehicle stays above the ground, out of walls, and in the world', () => {
  fc.assert(
    fc.property(plan, (given) => {
      const flight = fly(given)
      const { world, model, end } = flight
      const { x, y, z } = end.vehicle
      expect(Object.values(end.vehicle).every(Number.isFinite)).toBe(true)
      // Wheels touch the ground around the middle, not under it.
      expect(y).toBeGreaterThan(world.ground(x, z) - (given.kind === 'ugv' ? 0.5 : 0))
      expect(Math.hypot(x, z)).toBeLessThanOrEqual(world.edge + 0.2)
      const inside = world.solids.filter(
        (s) => x > s.x0 && x < s.x1 && y > s.y0 && y < s.y1 && z > s.z0 && z < s.z1 && model.radius > 0,
      )
      expect(inside).toEqual([])
    }),
    { numRuns: 40 },
  )
})

const field: World = {
  ...worlds.blocks,
  solids: [],
  spots: [
    [0, 0, 4],
    [0, 60, 4],
    [60, 60, 4],
  ],
}
const stick = (part: Partial<Stick>): Stick => ({ ...NEUTRAL, ...part })

function after(seconds: number, part: Partial<Stick>, kind: Kind, world = field) {
  const flight = new Flight(world, kind)
  const from = flight.end.vehicle
  for (let i = 0; i < seconds * STEPS_PER_SECOND; i++) flight.fly(stick(part))
  return { from, to: flight.end.vehicle, flight }
}

describe('a UAV', () => {
  test('hovers in place', () => {
    const { from, to } = after(10, {}, 'uav')
    expect(to).toEqual(from)
  })

  test('tilts to gain speed, levels off at 12 m/s, and brakes once the stick is free', () => {
    const { from, to, flight } = after(8, { forward: 1 }, 'uav')
    const ahead = (to.x - from.x) * Math.sin(from.heading) + (to.z - from.z) * Math.cos(from.heading)
    expect(ahead).toBeGreaterThan(60)
    expect(Math.hypot(to.vx, to.vz)).toBeGreaterThan(11)
    expect(Math.hypot(to.vx, to.vz)).toBeLessThan(12.1)
    expect(to.pitch).toBeLessThan(-0.1)
    for (let i = 0; i < 6 * STEPS_PER_SECOND; i++) flight.fly(NEUTRAL)
    expect(Math.hypot(flight.end.vehicle.vx, flight.end.vehicle.vz)).toBeLessThan(0.05)
  })

  test('climbs, slides to its right, and turns right', () => {
    const { from, to } = after(2, { climb: 1, side: 1 }, 'uav')
    const right = (to.x - from.x) * Math.cos(from.heading) - (to.z - from.z) * Math.sin(from.heading)
    expect(to.y - from.y).toBeGreaterThan(7)
    expect(right).toBeGreaterThan(5)
    expect(after(1, { turn: 1 }, 'uav').to.heading).toBeGreaterThan(from.heading + 1)
  })

  test('lands softly, and a hard landing is a bump', () => {
    const { to } = after(20, { climb: -0.3 }, 'uav')
    expect(to.y).toBeCloseTo(0.35)
    expect(to.bumps).toBe(0)
    expect(after(20, { climb: -1 }, 'uav').to.bumps).toBe(1)
  })
})

describe('a UGV', () => {
  test('does not turn on the spot, and ignores the height stick', () => {
    const { from, to } = after(3, { turn: 1, climb: 1 }, 'ugv')
    expect(to.heading).toBe(from.heading)
    expect(to.y).toBe(from.y)
  })

  test('drives at up to 9 m/s, and backward slower', () => {
    const { to } = after(10, { forward: 1 }, 'ugv')
    expect(Math.hypot(to.vx, to.vz)).toBeGreaterThan(8.5)
    expect(Math.hypot(to.vx, to.vz)).toBeLessThanOrEqual(9)
    const back = after(6, { forward: -1 }, 'ugv').to
    expect(Math.hypot(back.vx, back.vz)).toBeLessThanOrEqual(3.5)
  })

  test('follows the ground: nose up on the way up', () => {
    const slope: World = { ...field, flat: false, ground: (_, z) => z * 0.2 }
    const north: World = {
      ...slope,
      spots: [
        [0, 0, 4],
        [0, 60, 4],
        [0, -60, 4],
      ],
    }
    const { to } = after(3, { forward: 1 }, 'ugv', north)
    expect(Math.abs(to.pitch)).toBeCloseTo(Math.atan(0.2), 2)
    expect(to.y).toBeCloseTo(to.z * 0.2, 5)
  })
})

/** A field whose first gate faces that way. */
const facing = (east: number, north: number): World => ({
  ...field,
  spots: [
    [0, 0, 4],
    [east * 30, north * 30, 4],
    [-east * 30, -north * 30, 4],
  ],
})

describe.each([
  ['north', 0, 1],
  ['east', 1, 0],
  ['south', 0, -1],
  ['west', -1, 0],
])('to the %s', (_, east, north) => {
  test.each(kinds)('a wall stops a %s and counts once as a bump', (kind) => {
    const open = facing(east, north)
    const wall = solid('block', [east * 20, north * 20], [20, 20, 20])
    const { to, flight } = after(5, { forward: 1 }, kind, { ...open, solids: [wall] })
    expect(to.bumps).toBe(1)
    expect(to.x * east + to.z * north).toBeCloseTo(10 - flight.model.radius, 1)
  })

  test.each(kinds)('the world ends for a %s', (kind) => {
    const { to } = after(30, { forward: 1 }, kind, facing(east, north))
    expect(Math.hypot(to.x, to.z)).toBeCloseTo(field.edge, 1)
  })
})
