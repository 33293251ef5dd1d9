import type { Brush } from './brush.ts'
import type { Vehicle } from './vehicle.ts'
import type { Gate } from './world.ts'

const font = '600 12px ui-monospace, monospace'
const names: Record<number, string> = { 0: 'N', 90: 'E', 180: 'S', 270: 'W' }
const degrees = (angle: number) => (angle * 180) / Math.PI
const around = (angle: number) => ((angle % 360) + 360) % 360

/** A tape of headings with the next gate on it. */
export function drawCompass({ pen, lens, palette }: Brush, vehicle: Vehicle, gate: Gate | undefined): void {
  const [middle, wide] = [lens.width / 2, Math.min(lens.width * 0.46, 420)]
  const perDegree = wide / 100
  const heading = degrees(vehicle.heading)
  const fade = (off: number) => Math.max(0, 0.9 - Math.abs(off) / 55)
  pen.font = font
  pen.textAlign = 'center'
  for (let mark = Math.ceil((heading - 48) / 10) * 10; mark <= heading + 48; mark += 10) {
    const round = around(mark)
    const x = middle + (mark - heading) * perDegree
    pen.fillStyle = palette.of('text', fade(mark - heading))
    pen.fillRect(x - 0.5, 12, 1, round % 30 === 0 ? 8 : 4)
    const name = names[round] ?? (round % 30 === 0 ? String(round).padStart(3, '0') : '')
    if (name) pen.fillText(name, x, 33)
  }
  pen.fillStyle = palette.of('mint')
  pen.beginPath()
  pen.moveTo(middle, 11)
  pen.lineTo(middle - 5, 3)
  pen.lineTo(middle + 5, 3)
  pen.fill()
  if (gate) {
    const off = around(degrees(Math.atan2(gate.x - vehicle.x, gate.z - vehicle.z)) - heading + 180) - 180
    const x = middle + Math.max(-50, Math.min(50, off)) * perDegree
    pen.fillStyle = palette.of('beacon')
    pen.fillRect(x - 1.5, 10, 3, 12)
  }
  pen.textAlign = 'start'
}

/** Brackets around the next gate, or an arrow to it at the edge of the picture. */
export function drawMarker(brush: Brush, vehicle: Vehicle, gate: Gate): void {
  const { pen, lens, palette } = brush
  const far = Math.hypot(gate.x - vehicle.x, gate.y - vehicle.y, gate.z - vehicle.z)
  const seen = lens.see([gate.x, gate.y, gate.z])
  const spot = seen[2] > 1 ? lens.spot(seen) : null
  pen.font = font
  pen.fillStyle = palette.of('beacon')
  pen.strokeStyle = palette.of('beacon')
  pen.lineWidth = 1.5
  const margin = 26
  if (spot && spot[0] > margin && spot[0] < lens.width - margin && spot[1] > 0 && spot[1] < lens.height) {
    const size = Math.max(12, (lens.focal / seen[2]) * gate.width * 0.62)
    if (size > lens.height * 0.24) return
    const [x, y] = spot
    for (const [sx, sy] of [
      [-1, -1],
      [1, -1],
      [-1, 1],
      [1, 1],
    ] as const) {
      pen.beginPath()
      pen.moveTo(x + sx * size, y + sy * (size * 0.8 - 7))
      pen.lineTo(x + sx * size, y + sy * size * 0.8)
      pen.lineTo(x + sx * (size - 7), y + sy * size * 0.8)
      pen.stroke()
    }
    label(brush, `${far.toFixed(0)} m`, Math.min(x + size + 6, lens.width - 40), y + 4)
    return
  }
  const side = seen[0] < 0 ? -1 : 1
  const [x, y] = [side < 0 ? margin : lens.width - margin, lens.height * 0.42]
  pen.beginPath()
  pen.moveTo(x + side * 12, y)
  pen.lineTo(x - side * 4, y - 10)
  pen.lineTo(x - side * 4, y + 10)
  pen.fill()
  pen.textAlign = side < 0 ? 'left' : 'right'
  label(brush, `${far.toFixed(0)} m`, x + side * 12, y + 26)
  pen.textAlign = 'start'
}

/** Readable on any background. */
function label({ pen, palette }: Brush, text: string, x: number, y: number): void {
  pen.strokeStyle = palette.of('sky', 0.85)
  pen.lineWidth = 4
  pen.strokeText(text, x, y)
  pen.fillText(text, x, y)
}
