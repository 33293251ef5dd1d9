import { afterEach, expect, test, vi } from 'vitest'
import { TEXT_BYTES } from '../../../src/islands/files/preview-kind.ts'
import { readText } from '../../../src/islands/files/read-content.ts'

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
