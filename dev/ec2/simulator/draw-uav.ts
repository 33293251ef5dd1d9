import type { Brush } from './brush.ts'
import type { Tint } from './palette.ts'
import { type Body, boxParts, circle, dot, type Part } from './parts.ts'

export function uavParts(brush: Brush, body: Body, spin: number | null): Part[] {
  const { palette, lens } = brush
  const scale = lens.scale(body(0, 0, 0))
  const edge = palette.of('text', 0.45)
  const arms = [
    [-1, 1],
    [1, 1],
    [-1, -1],
    [1, -1],
  ] as const
  const parts = arms.flatMap(([side, end], i): Part[] => {
    const [r, a] = [side * 0.66, end * 0.62]
    const rotor = circle(body, [r, 0.16, a], 0.46, 'level')
    const angle = (spin ?? 0.6) * (i % 3 === 0 ? 1 : -1) + i
    const blade = [0.44 * Math.sin(angle), 0.44 * Math.cos(angle)] as const
    return [
      {
        at: body(r * 0.6, 0, a * 0.6),
        paint: () => {
          brush.line(
            body(side * 0.12, 0, end * 0.14),
            body(r, 0.02, a),
            palette.surface('hull', 0.45, 0),
            Math.max(1.5, 0.09 * scale),
          )
          brush.line(body(r, -0.05, a), body(r, 0.16, a), palette.surface('hull', 0.2, 0), Math.max(2, 0.15 * scale))
        },
      },
      {
        at: body(r, 0.3, a),
        paint: () => {
          brush.face(rotor, palette.of(end > 0 ? 'mint' : 'text', 0.14), palette.of(end > 0 ? 'mint' : 'text', 0.75))
          brush.line(
            body(r - blade[0], 0.16, a - blade[1]),
            body(r + blade[0], 0.16, a + blade[1]),
            palette.of('text', 0.55),
            Math.max(1, 0.05 * scale),
          )
        },
      },
    ]
  })
  const light = (r: number, a: number, tint: Tint): Part => ({
    at: body(r, 0.06, a),
    paint: () => dot(brush, body(r, 0.04, a), Math.max(1.5, 0.055 * scale), palette.of(tint)),
  })
  const skid = (side: number): Part => ({
    at: body(side * 0.26, -0.3, 0),
    paint: () => {
      const style = palette.surface('hull', 0.2, 0)
      const width = Math.max(1, 0.045 * scale)
      brush.line(body(side * 0.3, -0.33, -0.34), body(side * 0.3, -0.33, 0.34), style, width)
      for (const a of [-0.2, 0.2]) brush.line(body(side * 0.14, -0.06, a), body(side * 0.3, -0.33, a), style, width)
    },
  })
  return [
    ...parts,
    skid(-1),
    skid(1),
    ...boxParts(brush, body, [0, 0, 0], [0.34, 0.16, 0.62], 'hull', edge),
    ...boxParts(brush, body, [0, 0.13, -0.04], [0.22, 0.12, 0.36], 'beacon', edge),
    ...boxParts(brush, body, [0, -0.12, 0.28], [0.14, 0.13, 0.14], 'ink', edge),
    light(-0.12, -0.34, 'red'),
    light(0.12, -0.34, 'red'),
  ]
}
