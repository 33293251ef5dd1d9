import type { Brush, Item } from './brush.ts'
import type { Tint } from './palette.ts'
import { tagCells } from './tags.ts'
import type { Solid, Vec, World } from './world.ts'

/** How brightly the sun lights each side. */
const light = { top: 1, south: 0.72, west: 0.58, east: 0.3, north: 0.16, bottom: 0 }
type Side = keyof typeof light

const sight = 190

/** What the world shows. */
export function solidItems(brush: Brush, world: World): Item[] {
  const { lens } = brush
  const { eye } = lens
  const items: Item[] = []
  for (const solid of world.solids) {
    const x = Math.max(solid.x0, Math.min(solid.x1, eye.x))
    const z = Math.max(solid.z0, Math.min(solid.z1, eye.z))
    const nearest = lens.distance(x, z)
    if (nearest > sight) continue
    // Seen from above, the upper thing hides the lower one; from below, it's the other way around.
    const lifted = solid.y0 > 1 && world.flat
    const far = lifted ? nearest + (eye.y > solid.y0 ? -5 : 5) : nearest - (world.flat ? 0 : 4)
    items.push({ far, paint: () => paintSolid(brush, solid, nearest) })
  }
  return items
}

function paintSolid(brush: Brush, solid: Solid, far: number): void {
  const painters = { block: paintBlock, house: paintHouse, car: paintCar, pine: paintPine, tree: paintTree }
  painters[solid.shape](brush, solid, far)
}

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

function visibleSides({ eye }: Brush['lens'], { x0, x1, y0, y1, z0, z1 }: Box): Side[] {
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

function paintBox(brush: Brush, box: Box, tint: Tint, far: number, decorate?: (side: Side, face: Vec[]) => void): void {
  const mist = brush.mist(far)
  for (const side of visibleSides(brush.lens, box)) {
    const face = corners(box, side)
    const edge = brush.palette.surface('grid', 0.9, Math.min(1, mist + 0.15))
    brush.face(face, brush.palette.surface(tint, light[side], mist), edge)
    decorate?.(side, face)
  }
}

/** A rectangle on a side, from 0 to 1 across and up. */
function patch(face: readonly Vec[], [left, right]: readonly [number, number], [low, high]: readonly [number, number]) {
  const [a, b, , d] = face as [Vec, Vec, Vec, Vec]
  const at = (u: number, v: number): Vec => [
    a[0] + u * (b[0] - a[0]) + v * (d[0] - a[0]),
    a[1] + u * (b[1] - a[1]) + v * (d[1] - a[1]),
    a[2] + u * (b[2] - a[2]) + v * (d[2] - a[2]),
  ]
  return [at(left, low), at(right, low), at(right, high), at(left, high)]
}

/** Some carry a tag for cameras, as in a real test hall. */
function paintBlock(brush: Brush, solid: Solid, far: number): void {
  const tint: Tint = solid.tone > 0.9 ? 'leaf' : 'block'
  const tagged = solid.tone < 0.34 && far < 60 && solid.y0 < 1
  paintBox(brush, solid, tint, far, (side, face) => {
    if (tagged && side !== 'top' && side !== 'bottom') paintTag(brush, solid, face, far)
  })
}

function paintTag(brush: Brush, solid: Solid, face: Vec[], far: number): void {
  const { palette } = brush
  const mist = brush.mist(far)
  const size = Math.min(2.6, (solid.x1 - solid.x0) * 0.5)
  const [wide, tall] = [size / (solid.x1 - solid.x0), size / (solid.y1 - solid.y0)]
  if (tall > 0.8) return
  const bottom = Math.min(1 - tall - 0.05, 1.2 / (solid.y1 - solid.y0))
  const within = (u0: number, u1: number, v0: number, v1: number) =>
    patch(face, [0.5 + wide * (u0 - 0.5), 0.5 + wide * (u1 - 0.5)], [bottom + tall * v0, bottom + tall * v1])
  brush.face(within(-0.1, 1.1, -0.1, 1.1), palette.surface('glass', 0.8, mist))
  brush.face(within(0, 1, 0, 1), palette.surface('ink', 0.5, mist))
  for (const [column, row] of tagCells(Math.floor(solid.tone * 1000)))
    brush.face(
      within((column + 1) / 8, (column + 2) / 8, (row + 1) / 8, (row + 2) / 8),
      palette.surface('glass', 0.8, mist),
    )
}

function paintHouse(brush: Brush, solid: Solid, far: number): void {
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

function paintCar(brush: Brush, solid: Solid, far: number): void {
  const { x0, x1, y0, y1, z0, z1, tone } = solid
  const waist = y0 + (y1 - y0) * 0.55
  const body = { ...solid, y0: y0 + 0.25, y1: waist }
  const cabin = { x0: x0 + 0.15, x1: x1 - 0.15, y0: waist, y1, z0: z0 + (z1 - z0) * 0.25, z1: z1 - (z1 - z0) * 0.2 }
  const tint: Tint = tone > 0.7 ? 'glass' : tone > 0.35 ? 'car' : 'block'
  paintBox(brush, body, tint, far)
  paintBox(brush, cabin, 'road', far)
}

/** Trees face the eye: lit on the left, dark on the right. */
function paintPine(brush: Brush, solid: Solid, far: number): void {
  const { lens, palette, pen } = brush
  const [x, z] = [(solid.x0 + solid.x1) / 2, (solid.z0 + solid.z1) / 2]
  const foot = lens.project([x, solid.y0, z])
  const scale = lens.scale([x, solid.y0, z])
  if (!foot || foot[0] < -80 || foot[0] > lens.width + 80) return
  const mist = brush.mist(far)
  const tall = (solid.y1 - solid.y0) * scale * Math.cos(lens.eye.tilt)
  const [left, base] = foot
  pen.fillStyle = palette.surface('roof', 0.2, mist)
  pen.fillRect(left - 0.12 * scale, base - tall * 0.25, 0.24 * scale, tall * 0.25)
  for (const [low, high, wide] of [
    [0.14, 0.56, 1.35],
    [0.36, 0.78, 1.05],
    [0.58, 1, 0.75],
  ] as const) {
    const [bottom, top, half] = [base - tall * low, base - tall * high, wide * scale * (0.85 + solid.tone * 0.3)]
    const [l, r] = [left - half, left + half]
    const tip = [left, top] as const
    brush.shape([tip, [l, bottom], [left, bottom + half * 0.18]], palette.surface('leaf', 0.95, mist))
    brush.shape([tip, [left, bottom + half * 0.18], [r, bottom]], palette.surface('leaf', 0.3, mist))
  }
}

function paintTree(brush: Brush, solid: Solid, far: number): void {
  const { lens, palette, pen } = brush
  const [x, z] = [(solid.x0 + solid.x1) / 2, (solid.z0 + solid.z1) / 2]
  const foot = lens.project([x, solid.y0, z])
  const crown = lens.project([x, solid.y0 + (solid.y1 - solid.y0) * 0.66, z])
  if (!foot || !crown || foot[0] < -80 || foot[0] > lens.width + 80) return
  const scale = lens.scale([x, solid.y0, z])
  const mist = brush.mist(far)
  brush.line(
    [x, solid.y0, z],
    [x, solid.y0 + (solid.y1 - solid.y0) * 0.5, z],
    palette.surface('roof', 0.3, mist),
    0.28 * scale,
  )
  const radius = (solid.y1 - solid.y0) * 0.34 * scale
  const blob = (dx: number, dy: number, size: number, lit: number) => {
    pen.fillStyle = palette.surface('leaf', lit, mist)
    pen.beginPath()
    for (let i = 0; i < 9; i++) {
      const angle = ((i + solid.tone) / 9) * 2 * Math.PI
      pen.lineTo(crown[0] + (dx + size * Math.sin(angle)) * radius, crown[1] + (dy + size * Math.cos(angle)) * radius)
    }
    pen.fill()
  }
  blob(0, 0, 1, 0.25)
  blob(-0.2, -0.18, 0.76, 0.65)
  blob(-0.34, -0.34, 0.42, 1)
}
