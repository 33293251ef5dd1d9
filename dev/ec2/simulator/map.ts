import type { Palette } from './palette.ts'
import type { Vehicle } from './vehicle.ts'
import type { Gate, Vec, World } from './world.ts'

const contour = 5

/** The world from above, north up. */
export class WorldMap {
  readonly #canvas: HTMLCanvasElement
  readonly #pen: CanvasRenderingContext2D | null
  #still: { of: World; palette: Palette; size: number; picture: HTMLCanvasElement } | null = null

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d')
  }

  draw(world: World, palette: Palette, vehicle: Vehicle, gates: Gate[], next: number, trail: readonly Vec[]): void {
    const pen = this.#pen
    const size = this.#canvas.clientWidth
    if (!pen || !size) return
    const ratio = Math.min(2, devicePixelRatio || 1)
    if (this.#canvas.width !== Math.round(size * ratio)) {
      this.#canvas.width = Math.round(size * ratio)
      this.#canvas.height = Math.round(size * ratio)
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    const span = spanOf(world)
    const at = (x: number, z: number) => [((x + span) / (2 * span)) * size, ((span - z) / (2 * span)) * size] as const
    pen.clearRect(0, 0, size, size)
    pen.drawImage(this.#stillOf(world, palette, size, ratio), 0, 0, size, size)

    pen.lineWidth = 1
    pen.strokeStyle = palette.of('text', 0.28)
    pen.setLineDash([2, 3])
    pen.beginPath()
    for (const gate of [...gates, ...gates.slice(0, 1)]) pen.lineTo(...at(gate.x, gate.z))
    pen.stroke()
    pen.setLineDash([])
    gates.forEach((gate, i) => {
      const [half, isNext] = [gate.width * 0.75, i === next]
      const [dx, dz] = [half * Math.cos(gate.heading), half * Math.sin(gate.heading)]
      pen.strokeStyle = palette.of(isNext ? 'beacon' : 'mint', isNext ? 1 : 0.8)
      pen.lineWidth = isNext ? 3 : 1.8
      pen.beginPath()
      pen.moveTo(...at(gate.x - dx, gate.z + dz))
      pen.lineTo(...at(gate.x + dx, gate.z - dz))
      pen.stroke()
    })
    pen.strokeStyle = palette.of('mint', 0.8)
    pen.lineWidth = 1.2
    pen.beginPath()
    for (const [x, , z] of trail) pen.lineTo(...at(x, z))
    pen.stroke()
    const [left, top] = at(vehicle.x, vehicle.z)
    pen.save()
    pen.translate(left, top)
    pen.rotate(vehicle.heading)
    pen.fillStyle = palette.of('text')
    pen.beginPath()
    for (const [x, y] of [
      [0, -6],
      [4.2, 5],
      [0, 2.8],
      [-4.2, 5],
    ] as const)
      pen.lineTo(x, y)
    pen.fill()
    pen.restore()
  }

  #stillOf(world: World, palette: Palette, size: number, ratio: number): HTMLCanvasElement {
    const known = this.#still
    if (known?.of === world && known.palette === palette && known.size === size) return known.picture
    const picture = document.createElement('canvas')
    picture.width = picture.height = Math.round(size * ratio)
    const pen = picture.getContext('2d')
    if (pen) {
      pen.scale(ratio, ratio)
      if (world.flat) drawPlan(pen, world, palette, size)
      else drawContours(pen, world, palette, size)
    }
    this.#still = { of: world, palette, size, picture }
    return picture
  }
}

/** Half of what the map covers, in meters: the course and a little around it. */
const spanOf = (world: World) => Math.max(...world.spots.map(([x, z]) => Math.max(Math.abs(x), Math.abs(z)))) + 16

function drawPlan(pen: CanvasRenderingContext2D, world: World, palette: Palette, size: number): void {
  const span = spanOf(world)
  const scale = size / (2 * span)
  pen.fillStyle = palette.of('road')
  for (const road of world.roads) {
    pen.beginPath()
    for (const [x, z] of road) pen.lineTo((x + span) * scale, (span - z) * scale)
    pen.fill()
  }
  for (const { x0, x1, z0, z1, y0, shape } of world.solids) {
    pen.fillStyle = palette.of(shape === 'tree' ? 'leaf' : 'text', shape === 'tree' ? 0.5 : y0 > 0 ? 0.18 : 0.24)
    pen.fillRect((x0 + span) * scale, (span - z1) * scale, (x1 - x0) * scale, (z1 - z0) * scale)
  }
}

/** Lines of equal height, 5 m apart: where two neighbors lie in different steps. */
function drawContours(pen: CanvasRenderingContext2D, world: World, palette: Palette, size: number): void {
  const span = spanOf(world)
  const count = size * 2
  const step = (i: number, j: number) =>
    Math.floor(world.ground((i / count) * 2 * span - span, span - (j / count) * 2 * span) / contour)
  for (let i = 0; i < count; i++)
    for (let j = 0; j < count; j++) {
      const here = step(i, j)
      if (here === step(i + 1, j) && here === step(i, j + 1)) continue
      pen.fillStyle = palette.of('text', here % 4 === 0 ? 0.4 : 0.2)
      pen.fillRect(i / 2, j / 2, 0.6, 0.6)
    }
}
