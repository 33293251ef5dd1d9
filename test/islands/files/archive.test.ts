import { afterEach, expect, test, vi } from 'vitest'
import { saveArchive } from '../../../src/islands/files/archive.ts'
import { savedWords } from '../../../src/islands/files/useArchive.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const NAMES = ['a.log']

/** A folder with these files, whose links answer with these, in this order. */
function folder(answers: Response[], { names = NAMES, lists = [] as Response[] } = {}) {
  const opened: number[] = []
  const written: string[] = []
  const files = names.map((name) => ({ name, size: 2, modified_at: '2026-11-28T00:00:00Z' }))
  const fetch = async (path: string, { signal }: RequestInit) => {
    signal?.throwIfAborted()
    if (path.startsWith('/api/v1/files?'))
      return lists.shift() ?? Response.json({ path: 'f/', folders: [], files, next: null, used_bytes: 2 })
    opened.push(Date.now())
    return answers.shift() ?? new Response('hi')
  }
  const decoder = new TextDecoder('latin1')
  const createWritable = async () =>
    new WritableStream<Uint8Array>({ write: (bytes) => void written.push(decoder.decode(bytes)) })
  vi.stubGlobal('fetch', fetch)
  vi.stubGlobal('window', Object.assign(new EventTarget(), { showSaveFilePicker: async () => ({ createWritable }) }))
  vi.stubGlobal('document', { querySelector: () => null })
  return { opened, text: () => written.join('') }
}

const busy = () => new Response(null, { status: 429, headers: { 'Retry-After': '40' } })

test('an archive waits as long as the site says before it opens a file again', async () => {
  vi.useFakeTimers({ now: 0 })
  const { opened, text } = folder([busy(), new Response(null, { status: 500 })])
  const saved = saveArchive('f/', 'f', watch())
  await vi.runAllTimersAsync()
  await saved
  expect(opened).toEqual([0, 40_000, 41_000])
  expect(text()).toContain('hi')
})

const watch = () => ({ onBytes() {}, onLeftOut() {}, onGone: vi.fn(), signal: new AbortController().signal })

test('an archive waits as long as the site says before it lists another folder', async () => {
  vi.useFakeTimers({ now: 0 })
  const { opened, text } = folder([], { lists: [busy()] })
  const saved = saveArchive('f/', 'f', watch())
  await vi.runAllTimersAsync()
  await saved
  expect(opened).toEqual([40_000])
  expect(text()).toContain('hi')
})

test('an archive without the folders that are refused would not be all of it', async () => {
  folder([], { lists: [Response.json({ error: 'No.' }, { status: 403 })] })
  await expect(saveArchive('f/', 'f', watch())).rejects.toThrow('No.')
})

test('a file that is deleted before its turn does not end the archive', async () => {
  const { text } = folder([new Response(null, { status: 404 })], { names: ['a.log', 'b.log'] })
  const watched = watch()
  await saveArchive('f/', 'f', watched)
  expect(watched.onGone).toHaveBeenCalledOnce()
  expect(savedWords('f', 0, 1)).toBe('Saved f.zip. Meanwhile, 1 file was deleted.')
  expect(text()).toContain('b.log')
  expect(text()).not.toContain('a.log')
})

test('a file with a percent sign in its name does not end the archive', async () => {
  const headers = { 'Content-Disposition': 'attachment; filename="100%.csv"' }
  const { text } = folder([new Response('hi', { headers })], { names: ['100%.csv'] })
  await saveArchive('f/', 'f', watch())
  expect(text()).toContain('100%.csv')
})

test('someone who gives up while an archive waits needs no patience', async () => {
  vi.useFakeTimers({ now: 0 })
  const { opened } = folder([busy()])
  const giving = new AbortController()
  const saved = saveArchive('f/', 'f', { ...watch(), signal: giving.signal })
  const lost = expect(saved).rejects.toThrow('aborted')
  await vi.advanceTimersByTimeAsync(1000)
  giving.abort()
  await vi.advanceTimersByTimeAsync(0)
  await lost
  expect(opened).toEqual([0])
})

test('an archive ends when someone else has signed in, and has none of their files', async () => {
  const refusal = () => Response.json({ error: 'Someone else is signed in now.' }, { status: 409 })
  const { text } = folder([new Response('mine'), refusal()], { names: ['a.log', 'b.log'] })
  vi.stubGlobal('document', { querySelector: () => ({ content: `${'x'.repeat(86)}usr_ada` }) })
  const asked: string[] = []
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    if (path.includes('/content?')) asked.push(path)
    return fetch(path, init)
  })
  await expect(saveArchive('f/', 'f', watch())).rejects.toThrow('Someone else is signed in now.')
  expect(asked).toEqual(['a', 'b'].map((name) => `/api/v1/files/content?path=f%2F${name}.log&person=usr_ada`))
  expect(text()).toContain('mine')
})
