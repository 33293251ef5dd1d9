import type { Brush, Item } from './brush.ts'
import type { Solid, Vec, World } from './world.ts'

const shades = 6

/** Level ground with its grid, roads, and shadows. It hides nothing, so it comes first. */
export function drawFloor(brush: Brush, world: World): void {
  const { pen, lens, palette } = brush
  const sight = 110
  const cell = 5
  for (const road of world.roads)
    brush.face(
      road.map(([x, z]): Vec => [x, 0, z]),
      palette.of('road', 0.9),
    )
  const paths = Array.from({ length: shades }, () => new Path2D())
  const [x0, z0] = [Math.round(lens.eye.x / cell) * cell, Math.round(lens.eye.z / cell) * cell]
  const add = (a: Vec, b: Vec) => {
    const far = lens.distance((a[0] + b[0]) / 2, (a[2] + b[2]) / 2) / sight
    const ends = far < 1 ? lens.segment(a, b) : null
    if (!ends) return
    const path = paths[Math.floor(far * shades)] as Path2D
    path.moveTo(...ends[0])
    path.lineTo(...ends[1])
  }
  for (let along = -sight; along <= sight; along += cell)
    for (let across = -sight; across < sight; across += 20) {
      add([x0 + along, 0, z0 + across], [x0 + along, 0, z0 + across + 20])
      add([x0 + across, 0, z0 + along], [x0 + across + 20, 0, z0 + along])
    }
  pen.lineWidth = 1
  paths.forEach((path, shade) => {
    pen.strokeStyle = palette.of('grid', 0.75 * (1 - shade / shades) ** 1.5)
    pen.stroke(path)
  })
  for (const s of world.solids)
    if (s.y0 < 0.1 && lens.distance(s.x0, s.z0) < 130) brush.face(shadow(s), palette.of('ink', 0.2))
}

/** A box's shadow with the sun in the southwest. */
function shadow({ x0, x1, z0, z1, y1, shape }: Solid): Vec[] {
  const s = y1 * (shape === 'tree' ? 0.35 : 0.5)
  return [
    [x0, 0, z0],
    [x1, 0, z0],
    [x1 + s, 0, z0 + s],
    [x1 + s, 0, z1 + s],
    [x0 + s, 0, z1 + s],
    [x0, 0, z1],
  ]
}

/** Rings of cells around the eye, larger farther out: size and reach in meters. */
const rings = [
  { cell: 4, reach: 48 },
  { cell: 8, reach: 128 },
  { cell: 16, reach: 310 },
]

type Cell = { corners: Vec[]; light: number; snow: boolean }
const known = new Map<number, Cell>()

function cellAt(world: World, size: number, column: number, row: number): Cell {
  const key = (size * 1000 + column + 200) * 1000 + row + 200
  const found = known.get(key)
  if (found) return found
  const corner = (i: number, j: number): Vec => {
    const [x, z] = [(column + i) * size, (row + j) * size]
    return [x, world.ground(x, z), z]
  }
  const corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
  const [a, b, c, d] = corners.map(([, y]) => y) as [number, number, number, number]
  const [east, north] = [(b + c - a - d) / (2 * size), (c + d - a - b) / (2 * size)]
  // The sun is in the southwest.
  const light = (0.62 * east + 0.5 * north + 0.62) / Math.sqrt(1 + east * east + north * north)
  const cell = { corners, light: Math.max(0, Math.min(1, light)), snow: (a + b + c + d) / 4 > 27 }
  known.set(key, cell)
  return cell
}

/** Hills, in cells that hide what is behind them. */
export function hillItems(brush: Brush, world: World): Item[] {
  const { lens, palette } = brush
  const items: Item[] = []
  let inner = 0
  for (const { cell: size, reach } of rings) {
    const [x0, z0] = [Math.floor(lens.eye.x / size), Math.floor(lens.eye.z / size)]
    const count = Math.ceil(reach / size)
    for (let i = -count; i <= count; i++)
      for (let j = -count; j <= count; j++) {
        const [x, z] = [(x0 + i + 0.5) * size, (z0 + j + 0.5) * size]
        const far = lens.distance(x, z)
        if (far >= reach || far < inner - size * 0.4) continue
        if (!isInView(brush, x, z, size)) continue
        const cell = cellAt(world, size, x0 + i, z0 + j)
        items.push({ far, paint: () => paintCell(brush, cell, far) })
      }
    inner = reach
  }
  for (const road of world.roads) {
    const [x, z] = road[0] as (typeof road)[number]
    const far = lens.distance(x, z)
    if (far > 130) continue
    const corners = road.map(([cx, cz]): Vec => [cx, world.ground(cx, cz) + 0.05, cz])
    items.push({ far: far - 3.5, paint: () => brush.face(corners, palette.surface('road', 0.7, brush.mist(far))) })
  }
  return items
}

/** Whether part of a square around that point may be visible. */
function isInView({ lens }: Brush, x: number, z: number, size: number): boolean {
  const [dx, dz] = [x - lens.eye.x, z - lens.eye.z]
  const [sin, cos] = [Math.sin(lens.eye.yaw), Math.cos(lens.eye.yaw)]
  const ahead = dx * sin + dz * cos
  return ahead > -size && Math.abs(dx * cos - dz * sin) < (ahead * lens.width * 0.55) / lens.focal + size * 1.2
}

function paintCell(brush: Brush, { corners, light, snow }: Cell, far: number): void {
  const mist = brush.mist(far)
  const edge = far < 70 ? brush.palette.surface('grid', light, Math.min(1, mist + 0.1)) : undefined
  brush.face(corners, brush.palette.surface(snow ? 'snow' : 'rock', light, mist), edge)
}
