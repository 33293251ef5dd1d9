import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TEXT_BYTES } from '../../../src/islands/files/preview-kind.ts'
import { isAt, readText } from '../../../src/islands/files/read-content.ts'

beforeEach(() => void vi.stubGlobal('document', { querySelector: () => null }))
afterEach(() => void vi.unstubAllGlobals())

/** What a browser hands over of a small file that says it is compressed: it never ends. */
function bomb() {
  const seen = { bytes: 0, isCanceled: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.bytes += 65_536
      if (seen.bytes > 40 * TEXT_BYTES) controller.error(new Error('Too much was read'))
      else controller.enqueue(new Uint8Array(65_536).fill(0x61))
    },
    cancel() {
      seen.isCanceled = true
    },
  })
  vi.stubGlobal('fetch', async () => new Response(body))
  return seen
}

test('reads the beginning of a file that unpacks without end, and no more', async () => {
  const seen = bomb()
  const text = await readText('bomb.log', new AbortController().signal)
  expect(text).toBe('a'.repeat(TEXT_BYTES))
  expect(seen.isCanceled).toBe(true)
  expect(seen.bytes).toBeLessThan(2 * TEXT_BYTES)
})

test.each([
  ['abc', true],
  ['abd', false],
  ['ab', false],
  ['abcd', false],
  [null, false],
])('tells whether %s is the file abc', async (there, isIt) => {
  vi.stubGlobal('fetch', async () => new Response(there, { status: there === null ? 404 : 200 }))
  expect(await isAt('a', new Blob(['abc']), new AbortController().signal)).toBe(isIt)
})

test('takes neither an empty file for another one, nor a bucket that fails for a file that differs', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 416 }))
  expect(await isAt('a', new Blob([]), new AbortController().signal)).toBe(true)
  vi.stubGlobal('fetch', async () => new Response('', { status: 503 }))
  await expect(isAt('a', new Blob(['abc']), new AbortController().signal)).rejects.toThrow()
})
