import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { type Camera, PER_SECOND, type Picture } from './camera.ts'

export type Film = { webm: Buffer; poster: Buffer }

const MEDIABUNNY = fileURLToPath(new URL('../../bundles/mediabunny.mjs', import.meta.resolve('mediabunny')))

type Order = {
  pictures: Picture[]
  stills: number
  width: number
  height: number
  /** Pixels of the film per CSS pixel. */
  ratio: number
  perSecond: number
  /** A target: the film turns out larger. */
  bitrate: number
  posterAt: number
}

/** Composes the frames in Chromium and encodes them there as VP9. */
export async function develop(
  browser: Browser,
  camera: Camera,
  look: Pick<Order, 'width' | 'height' | 'ratio' | 'bitrate'> & { still: number },
): Promise<Film> {
  const server = createServer((request, response) => {
    const still = /^\/still\/(\d+)$/.exec(request.url ?? '')?.[1]
    if (still) return response.setHeader('Content-Type', 'image/png').end(camera.stills[Number(still)])
    if (request.url === '/mediabunny.mjs')
      return response.setHeader('Content-Type', 'text/javascript').end(readFileSync(MEDIABUNNY))
    return response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Film</title>')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const page = await browser.newPage()
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const order: Order = {
      ...look,
      pictures: camera.pictures,
      stills: camera.stills.length,
      perSecond: PER_SECOND,
      posterAt: Math.round(look.still * PER_SECOND),
    }
    const { webm, poster } = await page.evaluate(encode, order)
    return { webm: Buffer.from(webm, 'base64'), poster: Buffer.from(poster, 'base64') }
  } finally {
    await page.close()
    server.close()
  }
}

/** Runs in the browser. */
async function encode(order: Order): Promise<{ webm: string; poster: string }> {
  const library = '/mediabunny.mjs'
  const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Output, WebMOutputFormat } = (await import(
    library
  )) as typeof import('mediabunny')
  const { width, height, ratio, pictures, perSecond, bitrate } = order
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const g = canvas.getContext('2d') as CanvasRenderingContext2D
  const bitmaps = new Map<number, ImageBitmap>()
  const bitmap = async (still: number) => {
    const kept = bitmaps.get(still) ?? (await createImageBitmap(await (await fetch(`/still/${still}`)).blob()))
    bitmaps.set(still, kept)
    for (const old of bitmaps.keys()) if (bitmaps.size > 4 && old !== still) bitmaps.delete(old)
    return kept
  }
  const arrow = new Path2D('M0 0v17l4-4 3 7 3-1.3-3-6.7h6z')
  const draw = async ({ still, under, fade, pointer, ring }: Picture) => {
    g.setTransform(1, 0, 0, 1, 0, 0)
    g.globalAlpha = 1
    g.drawImage(await bitmap(still), 0, 0, width, height)
    if (fade) {
      g.globalAlpha = fade
      g.drawImage(await bitmap(under), 0, 0, width, height)
      g.globalAlpha = 1
    }
    if (!pointer) return
    g.setTransform(ratio, 0, 0, ratio, pointer.x * ratio, pointer.y * ratio)
    if (ring) {
      g.globalAlpha = 1 - ring
      g.strokeStyle = '#5fdfb6'
      g.lineWidth = 3
      g.beginPath()
      g.arc(0, 0, 6 + 18 * ring, 0, 7)
      g.stroke()
      g.globalAlpha = 1
    }
    g.lineJoin = 'round'
    g.lineWidth = 2.5
    g.strokeStyle = '#fff'
    g.stroke(arrow)
    g.fillStyle = '#081012'
    g.fill(arrow)
  }
  const base64 = async (blob: Blob) => {
    const bytes = new Uint8Array(await blob.arrayBuffer())
    let text = ''
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192))
    return btoa(text)
  }

  const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() })
  const source = new EncodedVideoPacketSource('vp9')
  output.addVideoTrack(source, { frameRate: perSecond })
  await output.start()
  const packets: Promise<void>[] = []
  const encoder = new VideoEncoder({
    output: (chunk, meta) => void packets.push(source.add(EncodedPacket.fromEncodedChunk(chunk), meta)),
    error: (error) => packets.push(Promise.reject(error)),
  })
  const codec = 'vp09.00.31.08'
  encoder.configure({ codec, width, height, framerate: perSecond, bitrate, bitrateMode: 'variable' })
  let poster: Blob | null = null
  let before = ''
  for (const [i, picture] of pictures.entries()) {
    const look = JSON.stringify(picture)
    const isPoster = i === order.posterAt
    // An unchanged frame takes no bytes: the previous one lasts longer.
    if (look === before && !isPoster && i < pictures.length - 1) continue
    before = look
    await draw(picture)
    if (isPoster) poster = await new Promise((made) => canvas.toBlob(made, 'image/webp', 0.6))
    const frame = new VideoFrame(canvas, { timestamp: (i * 1e6) / perSecond, duration: 1e6 / perSecond })
    encoder.encode(frame, { keyFrame: i === 0 })
    frame.close()
    while (encoder.encodeQueueSize > 4) await new Promise((waited) => setTimeout(waited, 5))
  }
  await encoder.flush()
  await Promise.all(packets)
  await output.finalize()
  return {
    webm: await base64(new Blob([output.target.buffer as ArrayBuffer])),
    poster: await base64(poster as Blob),
  }
}
