import type { Lens, Spot } from './lens.ts'
import type { Palette } from './palette.ts'
import type { Vec } from './world.ts'

/** Something to paint, and how far away it is: the far ones come first. */
export type Item = { far: number; paint: () => void }

/** Paints shapes of the world into the picture. */
export class Brush {
  readonly pen: CanvasRenderingContext2D
  readonly lens: Lens
  readonly palette: Palette

  constructor(pen: CanvasRenderingContext2D, lens: Lens, palette: Palette) {
    this.pen = pen
    this.lens = lens
    this.palette = palette
  }

  /** How much the air hides at that distance, from 0 to 1. */
  mist(far: number): number {
    return Math.max(0, Math.min(1, (far - 25) / 190)) ** 0.75
  }

  face(points: readonly Vec[], fill: string, edge?: string): void {
    const spots = this.lens.polygon(points)
    if (spots) this.shape(spots, fill, edge)
  }

  shape(spots: readonly Spot[], fill: string, edge?: string): void {
    const { pen } = this
    this.trace(spots)
    pen.closePath()
    pen.fillStyle = fill
    pen.fill()
    if (!edge) return
    pen.strokeStyle = edge
    pen.lineWidth = 1
    pen.stroke()
  }

  line(a: Vec, b: Vec, style: string, width = 1): void {
    const ends = this.lens.segment(a, b)
    if (!ends) return
    const { pen } = this
    this.trace(ends)
    pen.strokeStyle = style
    pen.lineWidth = width
    pen.stroke()
  }

  trace(spots: readonly Spot[]): void {
    const { pen } = this
    pen.beginPath()
    for (const [x, y] of spots) pen.lineTo(x, y)
  }
}
