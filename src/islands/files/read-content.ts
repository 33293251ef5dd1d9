import { personShown } from '../request.ts'
import { contentFor } from './entries.ts'
import { MAX_DRAWING, TEXT_BYTES } from './preview-kind.ts'

/** Why a file isn't shown, in words. */
export class NoPreview extends Error {}
class Gone extends NoPreview {}

/** The beginning of a text. Refuses what isn't text, or what unpacks without end. */
export async function readText(path: string, signal: AbortSignal): Promise<string> {
  const bytes = await readStart(path, TEXT_BYTES, signal)
  // Texts never contain it, and nearly everything else does.
  if (bytes.includes(0) && !isUtf16(bytes)) throw new NoPreview('This file is not text. Download it to open it.')
  return new TextDecoder(isUtf16(bytes) ? encodingOf(bytes) : 'utf-8').decode(bytes)
}

export async function readDrawing(path: string, signal: AbortSignal): Promise<string> {
  const bytes = await readStart(path, MAX_DRAWING, signal)
  return `data:image/svg+xml;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`
}

/** Whether the file at this path has these bytes, and no others. @throws if we can't read it now */
export async function isAt(path: string, file: Blob, signal: AbortSignal): Promise<boolean> {
  const ours = new Uint8Array(await file.arrayBuffer())
  try {
    const there = await readStart(path, ours.length + 1, signal)
    return there.length === ours.length && there.every((byte, i) => byte === ours[i])
  } catch (error) {
    if (error instanceof Gone) return false
    throw error
  }
}

/** The first bytes, and never more: a file that claims to be compressed may unpack to any size, so we count the output and stop there. */
async function readStart(path: string, most: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(contentFor(personShown(), path), { headers: { Range: `bytes=0-${most - 1}` }, signal })
  // An empty file has no first byte.
  if (answer.status === 416) return new Uint8Array()
  if (answer.status === 404) throw new Gone('This file is gone.')
  if (!answer.ok || !answer.body) throw new NoPreview('The file could not be read. Try again.')
  const bytes = new Uint8Array(most)
  let length = 0
  const reader = answer.body.getReader()
  while (length < most) {
    const { done, value } = await reader.read()
    if (done) break
    const taken = value.subarray(0, most - length)
    bytes.set(taken, length)
    length += taken.length
  }
  await reader.cancel()
  return bytes.slice(0, length)
}

const isUtf16 = (bytes: Uint8Array) => encodingOf(bytes) !== 'utf-8'

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
