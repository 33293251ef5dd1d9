import { expect, test } from 'vitest'
import { startCourse } from '../../../../dev/ec2/simulator/course.ts'
import { lapText, readTelemetry, spokenTelemetry } from '../../../../dev/ec2/simulator/telemetry.ts'
import { atRest } from '../../../../dev/ec2/simulator/vehicle.ts'
import { raycast, solid, topAt, type World } from '../../../../dev/ec2/simulator/world.ts'
import { worlds } from '../../../../dev/ec2/simulator/worlds.ts'

const world: World = {
  ...worlds.blocks,
  solids: [solid('block', [0, 25], [10, 8, 10]), solid('block', [0, 0], [2, 1, 2])],
}
const gate = { x: 10, y: 3, z: 10, heading: 0, width: 6, height: 4 }

test('reads the instruments', () => {
  const vehicle = { ...atRest(0, 4, 0, 0), vx: 3, vz: 4 }
  const read = readTelemetry(world, 'uav', vehicle, startCourse(), gate)
  expect(read).toMatchObject({ speed: 5, height: 3, heading: 0, gate: { bearing: 45 }, lap: null })
  expect(read.range).toBeCloseTo(20)
  expect(read.gate.distance).toBeCloseTo(Math.sqrt(201))
  const west = readTelemetry(world, 'uav', { ...vehicle, heading: -Math.PI / 2 }, startCourse(), gate)
  expect(west).toMatchObject({ heading: 270, range: null, gate: { bearing: 135 } })
})

test('says it in words on request', () => {
  const course = { next: 2, time: 20, lapFrom: 7.66, laps: 1, last: 30, best: 29.456 }
  const read = readTelemetry(world, 'uav', { ...atRest(0, 4, 0, 0), vz: 4 }, course, gate)
  expect(spokenTelemetry('uav', course, 8, read)).toBe(
    'Gate 3 of 8: 14 meters, 45 degrees to the right. Speed 4.0 meters per second, heading 0 degrees, height 3.0 meters. ' +
      'Next obstacle ahead: 20 meters. Lap 2: 12.3 seconds. Best lap: 29.46 seconds.',
  )
  const still = readTelemetry({ ...world, solids: [] }, 'ugv', atRest(10, 0, 0, 0), startCourse(), gate)
  expect(spokenTelemetry('ugv', startCourse(), 8, still)).toBe(
    'Gate 1 of 8: 10 meters, straight ahead. Speed 0.0 meters per second, heading 0 degrees. ' +
      'Nothing ahead within 40 meters. The clock starts at gate 1.',
  )
})

test.each([
  [0, '0:00.00'],
  [59.999, '0:59.99'],
  [60, '1:00.00'],
  [72.559, '1:12.55'],
])('%d s is the lap time %s', (seconds, text) => {
  expect(lapText(seconds)).toBe(text)
})

test('a ray hits the nearest of ground and obstacles, and nothing beyond its reach', () => {
  expect(raycast(world, [0, 4, 5], [0, 0, 1], 40)).toBeCloseTo(15)
  expect(raycast(world, [0, 4, 5], [0, 0, 1], 14.9)).toBeNull()
  expect(raycast(world, [0, 9, 5], [0, 0, 1], 40)).toBeNull()
  expect(raycast(world, [20, 4, 5], [0, -1, 0], 40)).toBeCloseTo(4)
  const { mountains } = worlds
  const [x, z] = [30, 90]
  expect(raycast(mountains, [x, mountains.ground(x, z) + 7, z], [0, -1, 0], 40)).toBeCloseTo(7, 1)
})

test('a top counts only for a vehicle that must go over it', () => {
  const arch: World = { ...world, solids: [solid('block', [0, 0], [10, 3, 4], { base: 11 })] }
  expect(topAt(arch, 0, 0)).toBe(14)
  expect(topAt(arch, 0, 0, 4)).toBe(0)
  expect(topAt(arch, 0, 3)).toBe(0)
})
