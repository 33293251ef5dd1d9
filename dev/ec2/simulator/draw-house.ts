import type { Brush } from './brush.ts'
import { light, paintBox, patch, type Side, visibleSides } from './draw-box.ts'
import type { Tint } from './palette.ts'
import type { Solid, Vec } from './world.ts'

export function paintHouse(brush: Brush, solid: Solid, far: number): void {
  const { palette, lens } = brush
  const mist = brush.mist(far)
  const { x0, x1, y0, y1, z0, z1, tone } = solid
  const eaves = y0 + (y1 - y0) * 0.58
  const walls = { ...solid, y1: eaves }
  const edge = palette.surface('grid', 0.9, Math.min(1, mist + 0.15))
  paintBox(brush, walls, tone > 0.75 ? 'glass' : 'house', far, (side, face) => {
    if (far > 75 || side === 'top' || side === 'bottom') return
    const lit = (tone * 97 + side.length * 31) % 10
    const long = side === 'south' || side === 'north' ? x1 - x0 : z1 - z0
    const spots = long > 8.5 ? [0.12, 0.42, 0.74] : [0.16, 0.66]
    spots.forEach((left, i) => {
      const isDoor = i === 1 && (side === 'south' || side === 'east')
      const glass: Tint = isDoor ? 'roof' : (lit + i * 3) % 10 < 4 ? 'lamp' : 'road'
      const height: [number, number] = isDoor ? [0, 0.68] : [0.36, 0.76]
      brush.face(patch(face, [left, left + 1.5 / long], height), palette.surface(glass, 0.85, mist), edge)
    })
  })
  // The ridge runs along the longer side.
  const alongX = x1 - x0 > z1 - z0
  const [mx, mz] = [(x0 + x1) / 2, (z0 + z1) / 2]
  const ridge: [Vec, Vec] = alongX
    ? [
        [x0, y1, mz],
        [x1, y1, mz],
      ]
    : [
        [mx, y1, z0],
        [mx, y1, z1],
      ]
  const sw: Vec = [x0, eaves, z0]
  const se: Vec = [x1, eaves, z0]
  const ne: Vec = [x1, eaves, z1]
  const nw: Vec = [x0, eaves, z1]
  const [from, to] = ridge
  const slopes: [Vec[], Side][] = alongX
    ? [
        [[sw, se, to, from], 'south'],
        [[ne, nw, from, to], 'north'],
      ]
    : [
        [[nw, sw, from, to], 'west'],
        [[se, ne, to, from], 'east'],
      ]
  const gables: [Vec[], Side][] = alongX
    ? [
        [[nw, sw, from], 'west'],
        [[se, ne, to], 'east'],
      ]
    : [
        [[sw, se, from], 'south'],
        [[ne, nw, to], 'north'],
      ]
  const visible = visibleSides(lens, walls)
  for (const [points, side] of gables)
    if (visible.includes(side))
      brush.face(points, palette.surface(tone > 0.75 ? 'glass' : 'house', light[side], mist), edge)
  const slope = (2 * (y1 - eaves)) / (alongX ? z1 - z0 : x1 - x0)
  for (const [points, side] of slopes) {
    const { x, y, z } = lens.eye
    const out = { south: z0 - z, north: z - z1, west: x0 - x, east: x - x1, top: 0, bottom: 0 }[side]
    // Above the plane of that slope.
    if (y - eaves > -out * slope) brush.face(points, palette.surface('roof', 0.25 + light[side] * 0.75, mist), edge)
  }
}
