import { type Frame, paint } from './paint.ts'
import { readings } from './scene.ts'

/**
 * The stage's file runs twice: in the page, and as the worker that paints, so that the page answers at once however long a frame takes
 * to draw. One file with both is smaller than two that each bring the scene.
 */
export const painterFile = import.meta.url

let g: OffscreenCanvasRenderingContext2D

// First comes the canvas, then its frames.
if (!globalThis.document)
  addEventListener('message', ({ data }: MessageEvent<OffscreenCanvas | Frame>) => {
    if (data instanceof OffscreenCanvas) g = data.getContext('2d') as typeof g
    else
      requestAnimationFrame(() => {
        paint(g, data)
        postMessage(readings(data.t, data.price))
      })
  })
