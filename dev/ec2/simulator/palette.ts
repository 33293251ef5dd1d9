/** Each is a custom property of sim.css, one color per theme. */
const names = [
  'sky',
  'haze',
  'floor',
  'grid',
  'road',
  'block',
  'house',
  'roof',
  'leaf',
  'rock',
  'snow',
  'car',
  'glass',
  'lamp',
  'ink',
  'hull',
  'mint',
  'beacon',
  'red',
  'text',
  'panel',
] as const
export type Tint = (typeof names)[number]
type Rgb = readonly [number, number, number]

const levels = 15

/** The theme's colors, in light and mist. */
export class Palette {
  readonly #colors = new Map<Tint, Rgb>()
  readonly #mixed = new Map<number, string>()

  /** Reads the current theme. */
  constructor() {
    const probe = document.createElement('i')
    document.body.append(probe)
    const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    for (const name of names) {
      probe.style.color = `var(--${name})`
      if (!pen) continue
      pen.fillStyle = getComputedStyle(probe).color
      pen.fillRect(0, 0, 1, 1)
      const [r = 0, g = 0, b = 0] = pen.getImageData(0, 0, 1, 1).data
      this.#colors.set(name, [r, g, b])
    }
    probe.remove()
  }

  /** @param alpha from 0 to 1 */
  of(tint: Tint, alpha = 1): string {
    const [r, g, b] = this.#rgb(tint)
    return `rgb(${r} ${g} ${b} / ${alpha})`
  }

  /** A surface: `light` from 0 in the shade to 1 in the sun, `mist` from 0 nearby to 1 on the horizon. */
  surface(tint: Tint, light: number, mist: number): string {
    const [l, m] = [Math.round(light * levels), Math.round(mist * levels)]
    const key = (names.indexOf(tint) * (levels + 1) + l) * (levels + 1) + m
    const known = this.#mixed.get(key)
    if (known) return known
    const [color, haze] = [this.#rgb(tint), this.#rgb('haze')]
    const lit = 0.62 + (0.46 * l) / levels
    const channel = (i: 0 | 1 | 2) =>
      Math.round(Math.min(255, color[i] * lit) * (1 - m / levels) + haze[i] * (m / levels))
    const made = `rgb(${channel(0)} ${channel(1)} ${channel(2)})`
    this.#mixed.set(key, made)
    return made
  }

  #rgb(tint: Tint): Rgb {
    return this.#colors.get(tint) ?? [0, 0, 0]
  }
}
