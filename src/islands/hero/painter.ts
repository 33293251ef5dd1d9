import { type Frame, paint } from './paint.ts'
import { readings } from './scene.ts'

/**
 * This file runs twice: in the page, and as the worker that paints, so the page stays responsive however long a frame
 * takes. One file for both is smaller than two that each bundle the scene.
 */
export const painterFile = import.meta.url

let g: OffscreenCanvasRenderingContext2D

// The first message is the canvas; frames follow.
if (!globalThis.document)
  addEventListener('message', ({ data }: MessageEvent<OffscreenCanvas | Frame>) => {
    if (data instanceof OffscreenCanvas) g = data.getContext('2d') as typeof g
    else
      requestAnimationFrame(() => {
        paint(g, data)
        postMessage(readings(data.t, data.price))
      })
  })
