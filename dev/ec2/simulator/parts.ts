import type { bodyOf } from './body.ts'
import type { Brush } from './brush.ts'
import type { Tint } from './palette.ts'
import type { Vec } from './world.ts'

export type Body = ReturnType<typeof bodyOf>
/** A piece of the vehicle, and the point that says how far away it is. */
export type Part = { at: Vec; paint: () => void }

/** A box in the body's axes: its middle and its size. */
export function boxParts(brush: Brush, body: Body, [r, u, a]: Vec, [w, h, l]: Vec, tint: Tint, edge: string): Part[] {
  const at = (i: number, j: number, k: number) => body(r + (i * w) / 2, u + (j * h) / 2, a + (k * l) / 2)
  const sides: [Vec[], Vec, number][] = [
    [[at(-1, 1, -1), at(1, 1, -1), at(1, 1, 1), at(-1, 1, 1)], at(0, 1, 0), 1],
    [[at(-1, -1, -1), at(1, -1, -1), at(1, -1, 1), at(-1, -1, 1)], at(0, -1, 0), 0],
    [[at(-1, -1, -1), at(1, -1, -1), at(1, 1, -1), at(-1, 1, -1)], at(0, 0, -1), 0.6],
    [[at(-1, -1, 1), at(1, -1, 1), at(1, 1, 1), at(-1, 1, 1)], at(0, 0, 1), 0.5],
    [[at(-1, -1, -1), at(-1, -1, 1), at(-1, 1, 1), at(-1, 1, -1)], at(-1, 0, 0), 0.7],
    [[at(1, -1, -1), at(1, -1, 1), at(1, 1, 1), at(1, 1, -1)], at(1, 0, 0), 0.3],
  ]
  const middle = at(0, 0, 0)
  const toEye = ([x, y, z]: Vec): Vec => [brush.lens.eye.x - x, brush.lens.eye.y - y, brush.lens.eye.z - z]
  const paint = () => {
    for (const [points, on, lit] of sides) {
      const [ex, ey, ez] = toEye(on)
      const shows = (on[0] - middle[0]) * ex + (on[1] - middle[1]) * ey + (on[2] - middle[2]) * ez > 0
      if (shows) brush.face(points, brush.palette.surface(tint, lit, 0), edge)
    }
  }
  return [{ at: middle, paint }]
}

export const circle = (body: Body, [r, u, a]: Vec, radius: number, plane: 'level' | 'upright', count = 20): Vec[] =>
  Array.from({ length: count }, (_, i) => {
    const angle = (i / count) * 2 * Math.PI
    const [s, c] = [radius * Math.sin(angle), radius * Math.cos(angle)]
    return plane === 'level' ? body(r + s, u, a + c) : body(r, u + s, a + c)
  })

export function dot({ lens, pen }: Brush, at: Vec, radius: number, style: string): void {
  const spot = lens.project(at)
  if (!spot) return
  pen.fillStyle = style
  pen.beginPath()
  pen.arc(spot[0], spot[1], radius, 0, 2 * Math.PI)
  pen.fill()
}
