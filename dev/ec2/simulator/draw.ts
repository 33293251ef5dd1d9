import { Brush, type Item } from './brush.ts'
import type { Eye } from './camera.ts'
import { gateItems } from './draw-gates.ts'
import { drawFloor, hillItems } from './draw-ground.ts'
import { drawCompass, drawMarker } from './draw-hud.ts'
import { solidItems } from './draw-solids.ts'
import { paintShadow, paintVehicle } from './draw-vehicle.ts'
import { Lens } from './lens.ts'
import type { Palette } from './palette.ts'
import type { Kind, Vehicle } from './vehicle.ts'
import type { Gate, Vec, World } from './world.ts'

export type Frame = {
  world: World
  kind: Kind
  vehicle: Vehicle
  gates: Gate[]
  /** Index of the next gate. */
  next: number
  eye: Eye
  points: readonly Vec[]
  trail: readonly Vec[]
  /** How far the rotors have turned; null to hold them still. */
  spin: number | null
}

/** Paints one frame, in CSS pixels. */
export function draw(
  pen: CanvasRenderingContext2D,
  [width, height]: readonly [number, number],
  palette: Palette,
  frame: Frame,
): void {
  const { world, kind, vehicle, gates, next, eye } = frame
  const lens = new Lens(eye, width, height)
  const brush = new Brush(pen, lens, palette)
  pen.lineJoin = 'round'
  pen.lineCap = 'butt'
  drawSky(brush, world)
  if (world.flat) drawFloor(brush, world)
  const items: Item[] = [
    ...(world.flat ? [] : hillItems(brush, world)),
    ...solidItems(brush, world),
    ...gateItems(brush, world, kind, gates, next),
    ...pointItems(brush, world, frame.points),
    ...vehicleItems(brush, frame),
  ]
  items.sort((a, b) => b.far - a.far)
  for (const { paint } of items) paint()
  const gate = gates[next]
  if (gate) drawMarker(brush, vehicle, gate)
  drawCompass(brush, vehicle, gate)
}

function drawSky({ pen, lens, palette }: Brush, { flat }: World): void {
  const horizon = Math.max(-lens.height, Math.min(2 * lens.height, lens.horizon))
  const sky = pen.createLinearGradient(0, horizon - lens.height * 0.75, 0, horizon)
  sky.addColorStop(0, palette.of('sky'))
  sky.addColorStop(1, palette.of('haze'))
  pen.fillStyle = sky
  pen.fillRect(0, 0, lens.width, lens.height)
  const floor = pen.createLinearGradient(0, horizon, 0, horizon + lens.height * 0.34)
  floor.addColorStop(0, palette.of('haze'))
  floor.addColorStop(1, palette.of(flat ? 'floor' : 'rock'))
  pen.fillStyle = floor
  pen.fillRect(0, horizon, lens.width, Math.max(0, lens.height - horizon))
}

const slice = 4

/** The points of the lidar, a slice of the distance at a time. */
function pointItems({ lens, pen, palette }: Brush, world: World, points: readonly Vec[]): Item[] {
  const slices = new Map<number, Vec[]>()
  for (const point of points) {
    const index = Math.floor(lens.distance(point[0], point[2]) / slice)
    const found = slices.get(index)
    if (found) found.push(point)
    else slices.set(index, [point])
  }
  return [...slices].map(([index, within]) => ({
    // On level ground, points on walls must come after the wall.
    far: index * slice - (world.flat ? 0.4 : 4.5),
    paint: () => {
      pen.fillStyle = palette.of('beacon', Math.max(0.25, 0.95 - index * 0.06))
      const size = index < 4 ? 2.4 : index < 8 ? 2 : 1.6
      for (const point of within) {
        const spot = lens.project(point)
        if (spot) pen.fillRect(spot[0] - size / 2, spot[1] - size / 2, size, size)
      }
    },
  }))
}

function vehicleItems(brush: Brush, { world, kind, vehicle, trail, spin }: Frame): Item[] {
  const { lens, palette } = brush
  const far = lens.distance(vehicle.x, vehicle.z)
  const { x, y, z } = vehicle
  const above = y - world.ground(x, z)
  const shadow = lens.distance(x + above * 0.5, z + above * 0.5)
  return [
    { far: shadow - (world.flat ? 0 : 5), paint: () => paintShadow(brush, world, kind, vehicle) },
    {
      far: far + (world.flat ? 0.6 : -5.5),
      paint: () => {
        if (kind === 'uav' && above > 0.8)
          brush.line([x, y - 0.3, z], [x, world.ground(x, z), z], palette.of('text', 0.16))
        trail.forEach((to, i) => {
          const from = trail[i - 1]
          if (from) brush.line(from, to, palette.of('mint', (0.75 * i) / trail.length), 1.6)
        })
      },
    },
    { far: far - (world.flat ? 0.8 : 6), paint: () => paintVehicle(brush, kind, vehicle, spin) },
  ]
}
