import { bodyOf } from './body.ts'
import type { Brush } from './brush.ts'
import type { Tint } from './palette.ts'
import type { Kind, Vehicle } from './vehicle.ts'
import type { Vec, World } from './world.ts'

type Body = ReturnType<typeof bodyOf>
/** A piece of the vehicle, and the point that its distance is measured to. */
type Part = { at: Vec; paint: () => void }

/** @param spin how far the rotors have turned; null to hold them still */
export function paintVehicle(brush: Brush, kind: Kind, vehicle: Vehicle, spin: number | null): void {
  const body = bodyOf(vehicle)
  const parts = kind === 'uav' ? uavParts(brush, body, spin) : ugvParts(brush, body, vehicle)
  const ahead = ({ at }: Part) => brush.lens.see(at)[2]
  for (const { paint } of parts.sort((a, b) => ahead(b) - ahead(a))) paint()
}

/** Its shadow on the ground, softer the higher it flies. */
export function paintShadow(brush: Brush, world: World, kind: Kind, { x, y, z, heading }: Vehicle): void {
  const above = y - world.ground(x, z)
  const [long, wide] = kind === 'uav' ? [0.95, 0.95] : [1, 0.75]
  const [sx, sz] = [x + above * 0.5, z + above * 0.5]
  const points = Array.from({ length: 14 }, (_, i): Vec => {
    const angle = (i / 14) * 2 * Math.PI
    const [a, r] = [long * Math.cos(angle), wide * Math.sin(angle)]
    const [px, pz] = [
      sx + a * Math.sin(heading) + r * Math.cos(heading),
      sz + a * Math.cos(heading) - r * Math.sin(heading),
    ]
    return [px, world.ground(px, pz) + 0.04, pz]
  })
  brush.face(points, brush.palette.of('ink', Math.max(0.08, 0.42 - above * 0.02)))
}

/** A box in the body's axes: its middle and its size. */
function boxParts(brush: Brush, body: Body, [r, u, a]: Vec, [w, h, l]: Vec, tint: Tint, edge: string): Part[] {
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

const circle = (body: Body, [r, u, a]: Vec, radius: number, plane: 'level' | 'upright', count = 20): Vec[] =>
  Array.from({ length: count }, (_, i) => {
    const angle = (i / count) * 2 * Math.PI
    const [s, c] = [radius * Math.sin(angle), radius * Math.cos(angle)]
    return plane === 'level' ? body(r + s, u, a + c) : body(r, u + s, a + c)
  })

function uavParts(brush: Brush, body: Body, spin: number | null): Part[] {
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

function ugvParts(brush: Brush, body: Body, vehicle: Vehicle): Part[] {
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

function dot({ lens, pen }: Brush, at: Vec, radius: number, style: string): void {
  const spot = lens.project(at)
  if (!spot) return
  pen.fillStyle = style
  pen.beginPath()
  pen.arc(spot[0], spot[1], radius, 0, 2 * Math.PI)
  pen.fill()
}
