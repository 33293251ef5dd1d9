import type { Brush } from './brush.ts'
import type { Tint } from './palette.ts'
import type { Solid, Vec } from './world.ts'

/** How the sun lights each side. */
export const light = { top: 1, south: 0.72, west: 0.58, east: 0.3, north: 0.16, bottom: 0 }
export type Side = keyof typeof light

type Box = Pick<Solid, 'x0' | 'x1' | 'y0' | 'y1' | 'z0' | 'z1'>

/** The corners of a side, as seen from outside: bottom left, bottom right, top right, top left. */
function corners({ x0, x1, y0, y1, z0, z1 }: Box, side: Side): Vec[] {
  const sides: Record<Side, Vec[]> = {
    south: [
      [x0, y0, z0],
      [x1, y0, z0],
      [x1, y1, z0],
      [x0, y1, z0],
    ],
    north: [
      [x1, y0, z1],
      [x0, y0, z1],
      [x0, y1, z1],
      [x1, y1, z1],
    ],
    west: [
      [x0, y0, z1],
      [x0, y0, z0],
      [x0, y1, z0],
      [x0, y1, z1],
    ],
    east: [
      [x1, y0, z0],
      [x1, y0, z1],
      [x1, y1, z1],
      [x1, y1, z0],
    ],
    top: [
      [x0, y1, z0],
      [x1, y1, z0],
      [x1, y1, z1],
      [x0, y1, z1],
    ],
    bottom: [
      [x0, y0, z0],
      [x1, y0, z0],
      [x1, y0, z1],
      [x0, y0, z1],
    ],
  }
  return sides[side]
}

export function visibleSides({ eye }: Brush['lens'], { x0, x1, y0, y1, z0, z1 }: Box): Side[] {
  const sides: [Side, boolean][] = [
    ['bottom', eye.y < y0],
    ['north', eye.z > z1],
    ['south', eye.z < z0],
    ['west', eye.x < x0],
    ['east', eye.x > x1],
    ['top', eye.y > y1],
  ]
  return sides.filter(([, shows]) => shows).map(([side]) => side)
}

export function paintBox(
  brush: Brush,
  box: Box,
  tint: Tint,
  far: number,
  decorate?: (side: Side, face: Vec[]) => void,
): void {
  const mist = brush.mist(far)
  for (const side of visibleSides(brush.lens, box)) {
    const face = corners(box, side)
    const edge = brush.palette.surface('grid', 0.9, Math.min(1, mist + 0.15))
    brush.face(face, brush.palette.surface(tint, light[side], mist), edge)
    decorate?.(side, face)
  }
}

/** A rectangle on a side, from 0 to 1 across and up. */
export function patch(
  face: readonly Vec[],
  [left, right]: readonly [number, number],
  [low, high]: readonly [number, number],
) {
  const [a, b, , d] = face as [Vec, Vec, Vec, Vec]
  const at = (u: number, v: number): Vec => [
    a[0] + u * (b[0] - a[0]) + v * (d[0] - a[0]),
    a[1] + u * (b[1] - a[1]) + v * (d[1] - a[1]),
    a[2] + u * (b[2] - a[2]) + v * (d[2] - a[2]),
  ]
  return [at(left, low), at(right, low), at(right, high), at(left, high)]
}
