import { expect, test } from 'vitest'
import type { Chosen, Line } from '../../../src/islands/files/send-file.ts'
import { UploadQueue } from '../../../src/islands/files/upload-queue.ts'

const MIB = 1024 * 1024
type Answer = Awaited<ReturnType<Line['request']>>

/** A server and a bucket: `calls` and `puts` say what they saw. `answers` come first, in this order. */
function fakeLine() {
  const calls: string[] = []
  const puts: string[] = []
  const waits: number[] = []
  const held: (() => void)[] = []
  const world = {
    answers: [] as Partial<Answer>[],
    statuses: [] as number[],
    done: [] as number[],
    hold: false,
    /** What is at the path when each link is made. */
    etags: [] as string[],
    /** Whether that is this file. */
    looks: [] as boolean[],
  }
  const line = {
    request: async (method: string, path: string, json: unknown) => {
      calls.push(`${method} ${path.replace('/api/v1/files', '')}`)
      const next = world.answers.shift()
      if (next) return { ok: false, status: 0, body: {}, ...next }
      const parts = ((json as { parts?: number[] })?.parts ?? []).map((part) => ({
        part,
        url: `part ${part}`,
        method: 'PUT',
        headers: {},
      }))
      const upload = {
        id: 'upl_1',
        done: world.done,
        url: (json as { path?: string })?.path,
        method: 'PUT',
        headers: world.etags.length ? { 'If-Match': world.etags.shift() } : { 'If-None-Match': '*' },
      }
      return { ok: true, status: 200, body: { upload, parts } }
    },
    put: async (
      to: { url: string },
      content: Blob,
      { onSent, signal }: { onSent(n: number): void; signal: AbortSignal },
    ) => {
      puts.push(`${to.url}: ${content.size}`)
      if (world.hold) await new Promise<void>((go) => held.push(go))
      if (signal.aborted) return { status: 0 }
      onSent(content.size)
      return { status: world.statuses.shift() ?? 200 }
    },
    holds: async () => {
      const isThere = world.looks.shift()
      if (isThere === undefined) throw new TypeError('Failed to fetch')
      return isThere
    },
    wait: async (ms: number) => void waits.push(ms),
  } as unknown as Line
  return { line, world, calls, puts, waits, release: () => held.splice(0).forEach((go) => void go()) }
}

const chosen = (path: string, size = 3): Chosen => ({ path, file: new Blob([new Uint8Array(size)]), version: '1' })
const settled = (queue: UploadQueue) =>
  expect.poll(() => queue.seen().active, { interval: 1 }).toBe(false) as unknown as Promise<void>

test('sends small files whole, four at a time', async () => {
  const { line, world, puts, release } = fakeLine()
  world.hold = true
  const done: string[] = []
  const queue = new UploadQueue(line, (path) => done.push(path))
  queue.add(['a', 'b', 'c', 'd', 'e'].map((path) => chosen(path)))
  await expect.poll(() => puts.length, { interval: 1 }).toBe(4)
  expect(queue.seen()).toMatchObject({ files: 5, filesDone: 0, active: true })
  world.hold = false
  release()
  await settled(queue)
  expect(done.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(queue.seen()).toMatchObject({ filesDone: 5, bytesSent: 15, bytes: 15, shown: [] })
})

test('sends large files in parts, and only those that are missing', async () => {
  const { line, world, puts, calls } = fakeLine()
  world.done = [2]
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a', 40 * MIB)])
  await settled(queue)
  expect(puts).toEqual([`part 1: ${16 * MIB}`, `part 3: ${8 * MIB}`])
  expect(calls).toEqual(['POST /uploads', 'POST /uploads/upl_1/parts', 'POST /uploads/upl_1/complete'])
})

test('tries again as often as the line breaks, with a new link each time', async () => {
  const { line, world, calls, waits } = fakeLine()
  world.answers = [{ status: 0 }, { status: 503 }]
  world.statuses = [0, 500, 403, 200]
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a')])
  await settled(queue)
  expect(calls).toHaveLength(6)
  expect(waits).toEqual([1000, 2000, 1000, 2000])
  expect(queue.seen().filesDone).toBe(1)
})

test('leaves alone what someone wrote after the upload began, until they try again', async () => {
  const { line, world, puts } = fakeLine()
  world.etags = ['"old"', '"newer"', '"newer"']
  world.statuses = [412, 200]
  world.looks = [false]
  const ended: string[] = []
  const queue = new UploadQueue(line, (path) => ended.push(path))
  queue.add([chosen('a')])
  await settled(queue)
  const error =
    "a was changed or deleted after this upload began, so we didn't save your file. Upload it again to save it."
  expect(queue.seen().shown).toMatchObject([{ state: 'failed', error }])
  expect(puts).toHaveLength(1)
  // So that the list shows what is there.
  expect(ended).toEqual(['a'])
  queue.resume()
  await settled(queue)
  expect([puts.length, queue.seen().filesDone]).toEqual([2, 1])
})

test('a pause forgets nothing of what an upload may replace', async () => {
  const { line, world, puts, release } = fakeLine()
  world.etags = ['"old"', '"newer"', '"newest"', '"newest"']
  world.looks = [false, false]
  world.hold = true
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a')])
  await expect.poll(() => puts.length, { interval: 1 }).toBe(1)
  queue.pause()
  world.hold = false
  release()
  queue.resume()
  await settled(queue)
  expect([puts.length, queue.seen().failed]).toEqual([1, 1])
  // Again: they knew of the newer file, not of the newest.
  queue.resume()
  await settled(queue)
  expect([puts.length, queue.seen().failed]).toEqual([1, 1])
  queue.resume()
  await settled(queue)
  expect([puts.length, queue.seen().filesDone]).toEqual([2, 1])
})

test('an upload in parts continues only with the same content, whatever its size and time', async () => {
  const { line } = fakeLine()
  const versions: string[] = []
  const { request } = line
  line.request = (async (method: string, path: string, json: { version?: string }) => {
    if (json?.version) versions.push(json.version)
    return request(method as never, path, json)
  }) as never
  for (const [byte, version] of [
    [0, '1'],
    [0, '1'],
    [1, '1'],
    [0, '2'],
  ] as const) {
    const content = new Uint8Array(40 * MIB)
    content[20 * MIB] = byte
    const queue = new UploadQueue(line, () => {})
    queue.add([{ path: 'a', file: new Blob([content]), version }])
    await settled(queue)
  }
  expect(versions[1]).toBe(versions[0])
  expect(new Set(versions).size).toBe(3)
  for (const version of versions) expect(version).toMatch(/^[0-9a-f]{64}$/)
})

test('a file that arrived although its answer was lost is done, once the line lets us see it', async () => {
  const { line, world, puts, waits } = fakeLine()
  world.etags = ['"old"', '"ours"', '"ours"']
  world.statuses = [0]
  const queue = new UploadQueue(line, () => {})
  line.wait = async (ms) => {
    waits.push(ms)
    if (waits.length === 2) world.looks = [true]
  }
  queue.add([chosen('a')])
  await settled(queue)
  expect([puts.length, waits, queue.seen().filesDone]).toEqual([1, [1000, 2000], 1])
})

test('waits as long as a busy server asks for', async () => {
  const { line, world, waits } = fakeLine()
  world.answers = [{ status: 429, headers: new Headers({ 'Retry-After': '60' }) }]
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a')])
  await settled(queue)
  expect(waits).toEqual([60_000])
})

test('a refusal ends it with its sentence, until someone tries again', async () => {
  const { line, world } = fakeLine()
  world.answers = [{ status: 422, body: { error: 'Too large.' } }]
  const ended: string[] = []
  const queue = new UploadQueue(line, (path) => ended.push(path))
  queue.add([chosen('a')])
  await settled(queue)
  expect(queue.seen().shown).toMatchObject([{ path: 'a', state: 'failed', error: 'Too large.' }])
  // A list that is refused as well, as after a sign-out, would leave the page.
  expect(ended).toEqual([])
  queue.resume()
  await settled(queue)
  expect(queue.seen()).toMatchObject({ filesDone: 1, failed: 0 })
})

test('a bucket that refuses every link is not asked forever', async () => {
  const { line, world } = fakeLine()
  world.statuses = Array(9).fill(403)
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a')])
  await settled(queue)
  expect(queue.seen().shown).toMatchObject([{ error: 'The storage refused this file. Try again later.' }])
  expect(world.statuses).toHaveLength(4)
})

test('an upload that another tab has completed is done', async () => {
  const { line, world, calls } = fakeLine()
  const begin = line.request
  line.request = (async (method: string, path: string, json: unknown) => {
    if (path.endsWith('/parts')) world.answers = [{ status: 404, body: { error: 'This upload has ended.' } }]
    return begin(method as 'POST', path, json)
  }) as typeof begin
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a', 40 * MIB)])
  await settled(queue)
  expect(calls.at(-1)).toBe('POST /uploads/upl_1/complete')
  expect(queue.seen()).toMatchObject({ filesDone: 1, failed: 0 })
})

test('pauses, continues, and forgets', async () => {
  const { line, world, puts, release } = fakeLine()
  world.hold = true
  const queue = new UploadQueue(line, () => {})
  queue.add([chosen('a')])
  await expect.poll(() => puts.length, { interval: 1 }).toBe(1)
  queue.pause()
  release()
  expect(queue.seen()).toMatchObject({ paused: true, active: false, shown: [{ state: 'paused' }] })
  world.hold = false
  queue.resume()
  await settled(queue)
  expect([puts.length, queue.seen().filesDone]).toEqual([2, 1])
  queue.remove()
  expect(queue.seen().files).toBe(0)
})

test('a file that is gone from the disk fails, and is not taken for a lost connection', async () => {
  const { line, world } = fakeLine()
  world.statuses = [0]
  const file = new Blob(['abc'])
  file.slice = () => {
    throw new DOMException('', 'NotReadableError')
  }
  const queue = new UploadQueue(line, () => {})
  queue.add([{ path: 'a', file, version: '1' }])
  await settled(queue)
  expect(queue.seen().shown).toMatchObject([
    { state: 'failed', error: expect.stringContaining("can't read this file") },
  ])
})
