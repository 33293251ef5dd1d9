import { paint, stillColours } from './paint.ts'
import { STILL, telemetry } from './scene.ts'

export type Stage = { draw: (t: number) => void; seen: () => boolean }

/**
 * Lays a canvas over the still picture inside `box` and writes the instruments beside it. `tell` is called when the size, the theme or
 * the visibility changed, so that whoever keeps the time can go on, rest or draw again.
 */
export function stage(box: HTMLElement, tell: () => void): Stage | null {
  const frame = box.querySelector('.frame')
  const canvas = document.createElement('canvas')
  const g = canvas.getContext('2d')
  if (!frame || !g) return null
  canvas.ariaHidden = 'true'
  frame.after(canvas)
  const readings = box.querySelectorAll('[data-reading]')
  const price = Number(box.dataset.price)
  let colours = stillColours()
  let last = STILL
  let visible = true

  const draw = (t: number) => {
    last = t
    paint(g, t, colours)
    telemetry(t, price).forEach(([, value], i) => {
      const reading = readings[i]
      if (reading) reading.textContent = value
    })
  }
  const fit = () => {
    canvas.width = canvas.clientWidth * devicePixelRatio
    canvas.height = canvas.clientHeight * devicePixelRatio
    colours = stillColours()
    draw(last)
    tell()
  }
  new ResizeObserver(fit).observe(canvas)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', fit)
  document.addEventListener('visibilitychange', tell)
  new IntersectionObserver(([entry]) => {
    visible = !!entry?.isIntersecting
    tell()
  }).observe(canvas)
  box.classList.add('is-live')
  return { draw, seen: () => visible && !document.hidden }
}

/** Calls `frame` with the seconds since the last frame, for as long as it answers true; the return value starts it again. */
export function ticker(frame: (seconds: number) => boolean): () => void {
  let request = 0
  let before = 0
  const step = (now: number) => {
    const seconds = before ? Math.min(0.1, (now - before) / 1000) : 0
    before = now
    request = frame(seconds) ? requestAnimationFrame(step) : 0
    if (!request) before = 0
  }
  return () => {
    request ||= requestAnimationFrame(step)
  }
}
