import { seeded } from './world.ts'

/** The white cells of a 6 × 6 tag, by its number. A camera would use it to find its position. */
export function tagCells(id: number): [column: number, row: number][] {
  const random = seeded(id + 1)
  const cells: [number, number][] = []
  for (let row = 0; row < 6; row++)
    for (let column = 0; column < 6; column++) if (random() < 0.5) cells.push([column, row])
  return cells
}
