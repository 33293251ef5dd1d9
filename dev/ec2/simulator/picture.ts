const judged = 150
const sharpest = Math.min(2, devicePixelRatio || 1)
const coarsest = 0.75

/** The canvas. A machine that can't keep up paints fewer pixels, until it can. */
export class Picture {
  readonly #canvas: HTMLCanvasElement
  readonly #pen: CanvasRenderingContext2D | null
  #size: readonly [number, number] = [0, 0]
  #ratio = sharpest
  #frames = 0
  #late = 0

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d', { alpha: false })
    this.fit()
  }

  /** In CSS pixels. */
  paint(draw: (pen: CanvasRenderingContext2D, size: readonly [number, number]) => void): void {
    this.#pen?.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0)
    if (this.#pen) draw(this.#pen, this.#size)
  }

  fit(): void {
    this.#size = [this.#canvas.clientWidth, this.#canvas.clientHeight]
    const [width, height] = this.#size.map((length) => Math.max(1, Math.round(length * this.#ratio))) as [
      number,
      number,
    ]
    // Setting the size clears the picture.
    if (this.#canvas.width === width && this.#canvas.height === height) return
    Object.assign(this.#canvas, { width, height })
  }

  /** @param dt seconds since the last frame */
  watchSpeed(dt: number): void {
    this.#frames += 1
    if (dt > 0.022) this.#late += 1
    if (this.#frames < judged) return
    const change = this.#late > judged / 3 ? 0.8 : this.#late < judged / 50 ? 1.25 : 1
    this.#ratio = Math.max(coarsest, Math.min(sharpest, this.#ratio * change))
    this.#frames = this.#late = 0
    this.fit()
  }
}
