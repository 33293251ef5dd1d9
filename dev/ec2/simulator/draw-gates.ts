import type { Brush, Item } from './brush.ts'
import type { Kind } from './vehicle.ts'
import type { Gate, Vec, World } from './world.ts'

const bar = 0.32

/** The next gate is amber, later ones are mint. */
export function gateItems(brush: Brush, world: World, kind: Kind, gates: Gate[], next: number): Item[] {
  const { lens } = brush
  return gates.map((gate, i) => {
    const far = lens.distance(gate.x, gate.z)
    return { far: far - (world.flat ? 0 : 4), paint: () => paintGate(brush, world, kind, gate, i, i === next, far) }
  })
}

function paintGate(
  brush: Brush,
  world: World,
  kind: Kind,
  gate: Gate,
  index: number,
  isNext: boolean,
  far: number,
): void {
  if (far > 150) return
  const { palette, lens, pen } = brush
  const [sin, cos] = [Math.sin(gate.heading), Math.cos(gate.heading)]
  const at = (aside: number, up: number): Vec => [gate.x + aside * cos, gate.y + up, gate.z - aside * sin]
  const [w, h] = [gate.width / 2, gate.height / 2]
  const fade = Math.max(0.15, 1 - far / 150)
  const color = palette.of(isNext ? 'beacon' : 'mint', fade * (isNext ? 1 : 0.62))
  const foot = world.ground(gate.x, gate.z)
  const low = kind === 'uav' ? -h : foot - gate.y - 0.3
  const ring = (grow: number) =>
    lens.polygon([
      at(-w - grow, low - (kind === 'uav' ? grow : 0)),
      at(w + grow, low - (kind === 'uav' ? grow : 0)),
      at(w + grow, h + grow),
      at(-w - grow, h + grow),
    ])
  const [outer, inner] = [ring(bar), ring(0)]
  // A UAV's gate stands on a pole.
  if (kind === 'uav')
    brush.line(
      [gate.x, foot, gate.z],
      at(0, -h - bar),
      palette.of('text', fade * 0.4),
      Math.max(1, 0.12 * lens.scale([gate.x, gate.y, gate.z])),
    )
  if (!outer || !inner) return
  if (isNext) brush.shape(inner, palette.of('beacon', 0.1 * fade))
  pen.beginPath()
  for (const spots of [outer, inner]) {
    spots.forEach(([x, y], i) => {
      if (i === 0) pen.moveTo(x, y)
      else pen.lineTo(x, y)
    })
    pen.closePath()
  }
  pen.fillStyle = color
  pen.fill('evenodd')
  // Chevrons on the posts show the direction.
  const scale = lens.scale(at(0, 0))
  const label = lens.project(at(0, h + bar + 0.25))
  if (!label || scale < 4) return
  pen.font = `600 ${Math.min(22, Math.max(10, scale * 0.9))}px ui-monospace, monospace`
  pen.textAlign = 'center'
  pen.fillStyle = color
  pen.fillText(String(index + 1), label[0], label[1])
  pen.textAlign = 'start'
}
