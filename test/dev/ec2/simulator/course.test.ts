import { describe, expect, test } from 'vitest'
import { autopilot } from '../../../../dev/ec2/simulator/autopilot.ts'
import { advance, type Course, gatesOf, startCourse } from '../../../../dev/ec2/simulator/course.ts'
import { Flight } from '../../../../dev/ec2/simulator/flight.ts'
import { atRest, DT, type Kind, STEPS_PER_SECOND } from '../../../../dev/ec2/simulator/vehicle.ts'
import { type Gate, solid } from '../../../../dev/ec2/simulator/world.ts'
import { worlds } from '../../../../dev/ec2/simulator/worlds.ts'

const gate = (x: number, z: number): Gate => ({ x, y: 5, z, heading: 0, width: 6, height: 4 })
const gates = [gate(0, 0), gate(0, 20), gate(0, 40)]
const at = (x: number, y: number, z: number) => atRest(x, y, z, 0)

function pass(course: Course, [x, y, z]: readonly [number, number, number], by = 1): Course {
  return advance(course, gates, at(x, y, z - by / 2), at(x, y, z + by / 2))
}

describe('a gate', () => {
  test.each([
    ['through the middle', [0, 5, 0], 1],
    ['just inside its side', [2.99, 5, 0], 1],
    ['past its side', [3.01, 5, 0], 0],
    ['just under its top', [0, 7.49, 0], 1],
    ['over its top', [0, 7.51, 0], 0],
    ['under it', [0, 2.49, 0], 0],
    ['before it', [0, 5, -0.51], 0],
    ['behind it', [0, 5, 0.51], 0],
  ] as const)('%s', (_, point, next) => {
    expect(pass(startCourse(), point).next).toBe(next)
  })

  test('counts only forward', () => {
    expect(advance(startCourse(), gates, at(0, 5, 0.5), at(0, 5, -0.5)).next).toBe(0)
  })

  test('counts once, even if the vehicle stops exactly on its line', () => {
    const on = advance(startCourse(), gates, at(0, 5, -0.5), at(0, 5, 0))
    expect(on.next).toBe(1)
    expect(advance({ ...on, next: 0 }, gates, at(0, 5, 0), at(0, 5, 0.5)).next).toBe(0)
  })

  test('counts only in order', () => {
    expect(pass(startCourse(), [0, 5, 20]).next).toBe(0)
  })
})

test('a lap runs from the first gate to the first gate, timed within the step', () => {
  const started = advance(startCourse(), gates, at(0, 5, -1), at(0, 5, 3))
  expect(started).toMatchObject({ lapFrom: DT * 0.25, laps: 0, last: null })
  const half = pass(pass(started, [0, 5, 20]), [0, 5, 40])
  expect(half).toMatchObject({ next: 0, laps: 0, last: null })
  const done = advance(half, gates, at(0, 5, -3), at(0, 5, 1))
  expect(done).toMatchObject({ next: 1, laps: 1 })
  expect(done.last).toBeCloseTo(DT * 3.5, 12)
  expect(done.best).toBe(done.last)
})

test('the best lap stays when the next one is slower', () => {
  const slow = { next: 0, time: 100, lapFrom: 20, laps: 1, last: 9, best: 9 }
  expect(pass(slow, [0, 5, 0])).toMatchObject({ laps: 2, best: 9 })
  const fast = { ...slow, lapFrom: 95 }
  expect(pass(fast, [0, 5, 0]).best).toBeCloseTo(5 + DT / 2, 9)
})

describe.each(Object.values(worlds))('$name', (world) => {
  test.each<Kind>(['uav', 'ugv'])('the autopilot finishes a lap with a %s and hits nothing', (kind) => {
    const flight = new Flight(world, kind)
    let stick = autopilotOf(flight, kind)
    for (let i = 0; i < 120 * STEPS_PER_SECOND && flight.end.course.laps < 1; i++) {
      if (i % 6 === 0) stick = autopilotOf(flight, kind)
      flight.fly(stick)
    }
    expect(flight.end.course.laps).toBe(1)
    expect(flight.end.vehicle.bumps).toBe(0)
  })

  test('its gates are clear of the ground and of obstacles', () => {
    for (const kind of ['uav', 'ugv'] as const)
      for (const { x, y, z, height } of gatesOf(world, kind)) {
        if (kind === 'uav') expect(y - height / 2).toBeGreaterThan(world.ground(x, z))
        expect(world.solids.filter((s) => x > s.x0 && x < s.x1 && z > s.z0 && z < s.z1 && s.y0 < y)).toEqual([])
      }
  })
})

test('the autopilot climbs over obstacles between two gates', () => {
  const spots = [
    [0, 0, 4],
    [0, 80, 4],
    [60, 40, 4],
  ] as const
  const world = { ...worlds.blocks, spots, solids: [solid('block', [0, 40], [60, 12, 8])] }
  const flight = new Flight(world, 'uav')
  for (let i = 0; i < 30 * STEPS_PER_SECOND && flight.end.course.next < 2; i++) flight.fly(autopilotOf(flight, 'uav'))
  expect(flight.end.course.next).toBe(2)
  expect(flight.end.vehicle.bumps).toBe(0)
})

function autopilotOf({ world, gates, end }: Flight, kind: Kind) {
  const { next } = end.course
  return autopilot(world, kind, end.vehicle, gates[next] as Gate, gates[(next + 1) % gates.length] as Gate)
}
