import type { Locator, Page } from 'playwright-core'

/** One frame of the film: a still, the one it fades from, and the pointer. */
export type Picture = {
  still: number
  /** The still that it covers, and how visible that still is. */
  under: number
  fade: number
  pointer: { x: number; y: number } | null
  /** 0 to 1: how far the ring around a press has grown. */
  ring: number
}

export const PER_SECOND = 15
const FADE = 3
/** A moving page changes in every second frame: half the bytes, and smooth enough. */
const EVERY = 2

/** Films real pages: takes stills, and draws the pointer's path between presses, at a steady frame rate. */
export class Camera {
  readonly stills: Buffer[] = []
  readonly pictures: Picture[] = []
  private pointer: Picture['pointer'] = null
  private page: Page | null = null

  /** Switches to this page with a crossfade. */
  async turnTo(page: Page): Promise<void> {
    const before = this.stills.length - 1
    this.page = page
    this.pointer = null
    const still = await this.take()
    if (before >= 0) for (let i = 1; i <= FADE; i++) this.add(still, { under: before, fade: 1 - i / (FADE + 1) })
    else this.add(still)
  }

  /** Takes a new still, and holds it until the film is `at` seconds long. */
  async holdUntil(at: number): Promise<void> {
    const still = await this.take()
    while (this.pictures.length < at * PER_SECOND) this.add(still)
  }

  /** Moves the pointer there, slowly at both ends, and presses. */
  async press(target: Locator, seconds = 0.9): Promise<void> {
    await target.scrollIntoViewIfNeeded()
    const box = await target.boundingBox()
    if (!box) throw new Error('There is nothing to click.')
    const to = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    const from = this.pointer ?? { x: to.x * 0.6 + 120, y: to.y * 0.7 + 160 }
    const still = await this.take()
    const steps = Math.round(seconds * PER_SECOND)
    for (let i = 1; i <= steps; i++) {
      const part = (1 - Math.cos((Math.PI * i) / steps)) / 2
      this.pointer = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
      this.add(still)
    }
    for (let i = 1; i <= 5; i++) this.add(still, { ring: i / 5 })
    await target.click()
  }

  /** Films until `done`, then plays that in exactly this many seconds. */
  async live(seconds: number, done: Promise<unknown>): Promise<void> {
    const taken: { at: number; still: number }[] = []
    let over = false
    void done.then(() => {
      over = true
    })
    const began = performance.now()
    do taken.push({ at: performance.now() - began, still: await this.take() })
    while (!over)
    await done
    taken.push({ at: performance.now() - began, still: await this.take() })
    const length = taken.at(-1)?.at ?? 1
    const pictures = Math.round(seconds * PER_SECOND)
    for (let i = 1; i <= pictures; i++) {
      const now = (length * i) / pictures
      this.add(taken.findLast(({ at }) => at <= now)?.still ?? 0)
    }
  }

  /** Films a page that moves: its clock advances with the film's. */
  async rollUntil(at: number): Promise<void> {
    this.pointer = null
    while (this.pictures.length < at * PER_SECOND) {
      await this.page?.clock.runFor((1000 * EVERY) / PER_SECOND)
      const still = await this.take()
      for (let i = 0; i < EVERY; i++) this.add(still)
    }
  }

  private add(still: number, more: Partial<Picture> = {}): void {
    this.pictures.push({ still, under: still, fade: 0, pointer: this.pointer, ring: 0, ...more })
  }

  private async take(): Promise<number> {
    const picture = await this.page?.screenshot({ type: 'png', animations: 'disabled', caret: 'hide' })
    if (!picture) throw new Error('The camera has no page.')
    if (!this.stills.at(-1)?.equals(picture)) this.stills.push(picture)
    return this.stills.length - 1
  }
}
