import type { Frame } from './paint.ts'
import { painterFile } from './painter.ts'

/**
 * Lays a canvas over the still picture in `box`, has a worker paint it, and updates the instruments beside it. `time`
 * gives the moment to show from the seconds since the last frame. The returned function shows one frame, and keeps
 * going while `playing` and in view. Null if the browser has no canvas for workers: the still picture stays.
 */
export function stage(
  box: HTMLElement,
  time: (seconds: number) => number,
  playing: () => boolean,
): (() => void) | null {
  const canvas = document.createElement('canvas')
  if (!canvas.transferControlToOffscreen) return null
  canvas.ariaHidden = 'true'
  box.querySelector('.frame')?.after(canvas)
  const painter = new Worker(painterFile, { type: 'module' })
  const offscreen = canvas.transferControlToOffscreen()
  painter.postMessage(offscreen, [offscreen])
  const readings = box.querySelectorAll('[data-reading]')

  let visible = true
  let wanted = false
  let busy = false
  let before = 0
  let look: Omit<Frame, 't'>
  const step = (now: number) => {
    wanted = false
    painter.postMessage({ ...look, t: time(before && Math.min(0.1, (now - before) / 1000)) } satisfies Frame)
    before = now
  }
  // Each frame waits for the last one: a slow machine shows fewer frames instead of falling behind.
  painter.addEventListener('message', ({ data }: MessageEvent<string[]>) => {
    box.classList.add('is-live')
    readings.forEach((reading, i) => {
      if (reading.textContent !== data[i]) reading.textContent = data[i] as string
    })
    if (!playing() || !visible || document.hidden) before = 0
    busy = wanted || before > 0
    if (busy) requestAnimationFrame(step)
  })
  const show = () => {
    // In a moving picture, nobody sees more pixels than that.
    const ratio = Math.min(2, devicePixelRatio)
    look = {
      width: canvas.clientWidth * ratio,
      height: canvas.clientHeight * ratio,
      ratio,
      price: Number(box.dataset.price),
      ground: color('.profile', 'fill'),
      profile: color('.profile', 'stroke'),
      returns: color('.returns', 'stroke'),
      uav: color('.uav', 'color'),
    }
    wanted = true
    if (!busy) requestAnimationFrame(step)
    busy = true
  }
  new ResizeObserver(show).observe(canvas)
  new IntersectionObserver(([entry]) => {
    visible = !!entry?.isIntersecting
    show()
  }).observe(canvas)
  document.addEventListener('visibilitychange', show)
  document.addEventListener('themechange', show)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
  return show
}

/** The canvas follows the theme by reading the colors that CSS gives the still picture. */
function color(part: string, property: 'fill' | 'stroke' | 'color'): string {
  return getComputedStyle(document.querySelector(part) as Element)[property]
}
