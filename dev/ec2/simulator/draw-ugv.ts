import type { Brush } from './brush.ts'
import type { Tint } from './palette.ts'
import { type Body, boxParts, circle, dot, type Part } from './parts.ts'
import type { Vehicle } from './vehicle.ts'
import type { Vec } from './world.ts'

export function ugvParts(brush: Brush, body: Body, vehicle: Vehicle): Part[] {
  const { palette, lens } = brush
  const scale = lens.scale(body(0, 0.5, 0))
  const edge = palette.of('text', 0.4)
  const wheels = [
    [-1, 1],
    [1, 1],
    [-1, -1],
    [1, -1],
  ].map(([side = 1, end = 1]): Part => {
    const [r, a, radius] = [side * 0.62, end * 0.62, 0.34]
    // The front wheels turn with the steering.
    const turn = end > 0 ? vehicle.steer : 0
    const wheel: Body = (x, y, z) =>
      body(r + x * Math.cos(turn) + z * Math.sin(turn), radius + y, a + z * Math.cos(turn) - x * Math.sin(turn))
    const paint = () => {
      const [inner, outer] = [-1, 1].map((way) => circle(wheel, [way * 0.13, 0, 0], radius, 'upright')) as [
        Vec[],
        Vec[],
      ]
      const near = lens.see(wheel(-0.13, 0, 0))[2] < lens.see(wheel(0.13, 0, 0))[2]
      const [back, front] = near ? [outer, inner] : [inner, outer]
      const tire = palette.surface('ink', 0.7, 0)
      for (let i = 0; i < front.length; i += 1) {
        const j = (i + 1) % front.length
        brush.face(
          [back[i] as Vec, back[j] as Vec, front[j] as Vec, front[i] as Vec],
          tire,
          i % 2 ? palette.of('text', 0.22) : tire,
        )
      }
      brush.face(front, palette.surface('ink', 1, 0), palette.of('text', 0.5))
      const way = near ? -0.14 : 0.14
      brush.face(circle(wheel, [way, 0, 0], 0.17, 'upright', 12), palette.surface('hull', 0.7, 0), edge)
      const angle = -vehicle.travel / radius
      for (const spoke of [0, 1, 2]) {
        const [s, c] = [Math.sin(angle + (spoke * Math.PI) / 3), Math.cos(angle + (spoke * Math.PI) / 3)]
        brush.line(
          wheel(way, 0.17 * s, 0.17 * c),
          wheel(way, -0.17 * s, -0.17 * c),
          palette.of('ink', 0.8),
          Math.max(1, 0.04 * scale),
        )
      }
    }
    return { at: body(r, radius, a), paint }
  })
  const lights = ([r, a, tint]: readonly [number, number, Tint]): Part => ({
    at: body(r, 0.5, a * 1.05),
    paint: () => dot(brush, body(r, 0.5, a), Math.max(1.5, 0.06 * scale), palette.of(tint)),
  })
  const mast: Part = {
    at: body(0, 1, 0.2),
    paint: () => {
      brush.line(body(0, 0.75, 0.25), body(0, 1.15, 0.25), palette.surface('hull', 0.3, 0), Math.max(2, 0.09 * scale))
      const [low, high] = [1.12, 1.32].map((u) => circle(body, [0, u, 0.25], 0.17, 'level', 14)) as [Vec[], Vec[]]
      brush.face(low, palette.surface('ink', 0.6, 0))
      low.forEach((point, i) => {
        const j = (i + 1) % low.length
        brush.face([point, low[j] as Vec, high[j] as Vec, high[i] as Vec], palette.surface('ink', 0.6, 0))
      })
      brush.face(high, palette.surface('hull', 1, 0), palette.of('beacon', 0.9))
      brush.line(body(-0.3, 0.75, -0.6), body(-0.34, 1.75, -0.72), palette.of('text', 0.6), Math.max(1, 0.025 * scale))
    },
  }
  return [
    ...wheels,
    ...boxParts(brush, body, [0, 0.42, 0], [0.92, 0.26, 1.62], 'hull', edge),
    ...boxParts(brush, body, [0, 0.65, -0.12], [0.7, 0.22, 1], 'beacon', edge),
    mast,
    ...(
      [
        [-0.34, -0.82, 'red'],
        [0.34, -0.82, 'red'],
        [-0.34, 0.82, 'mint'],
        [0.34, 0.82, 'mint'],
      ] as const
    ).map(lights),
  ]
}
