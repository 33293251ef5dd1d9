import type { Brush, Item } from './brush.ts'
import { paintBox, patch } from './draw-box.ts'
import { paintHouse } from './draw-house.ts'
import { paintPine, paintTree } from './draw-trees.ts'
import type { Tint } from './palette.ts'
import { tagCells } from './tags.ts'
import type { Solid, Vec, World } from './world.ts'

const sight = 190

/** What stands in the world and shows. */
export function solidItems(brush: Brush, world: World): Item[] {
  const { lens } = brush
  const { eye } = lens
  const items: Item[] = []
  for (const solid of world.solids) {
    const x = Math.max(solid.x0, Math.min(solid.x1, eye.x))
    const z = Math.max(solid.z0, Math.min(solid.z1, eye.z))
    const nearest = lens.distance(x, z)
    if (nearest > sight) continue
    // What lies on something hides it from above, and is hidden by it from below.
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

function paintCar(brush: Brush, solid: Solid, far: number): void {
  const { x0, x1, y0, y1, z0, z1, tone } = solid
  const waist = y0 + (y1 - y0) * 0.55
  const body = { ...solid, y0: y0 + 0.25, y1: waist }
  const cabin = { x0: x0 + 0.15, x1: x1 - 0.15, y0: waist, y1, z0: z0 + (z1 - z0) * 0.25, z1: z1 - (z1 - z0) * 0.2 }
  const tint: Tint = tone > 0.7 ? 'glass' : tone > 0.35 ? 'car' : 'block'
  paintBox(brush, body, tint, far)
  paintBox(brush, cabin, 'road', far)
}
