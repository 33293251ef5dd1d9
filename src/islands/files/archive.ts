import { makeZip } from 'client-zip'
import { inText } from '../../domain/file-names.ts'
import type { FileList } from '../../domain/wire/files.ts'
import { personShown, request } from '../request.ts'
import { contentFor, entriesOf } from './entries.ts'
import { wait } from './wait.ts'

/** Without a file to write to, a browser keeps the archive in memory. */
const MAX_IN_MEMORY = 1_000_000_000

type ArchiveFile = { path: string; name: string; size: number; modifiedAt: string }

/** Stopped, with the reason in words. */
export class NoArchive extends Error {}

/** A file that the person chose for writing, in browsers that support it. */
type SavePicker = (options: { suggestedName: string }) => Promise<{ createWritable(): Promise<WritableStream> }>

export type ArchiveWatch = {
  onBytes: (bytes: number) => void
  /** For a file that no link can lead to. */
  onLeftOut: () => void
  /** For a file that was deleted after we listed it, by a server for instance. */
  onGone: () => void
  signal: AbortSignal
}

/**
 * Saves a folder as one archive. The bytes come straight from the bucket, one file after the other, and go straight to
 * disk.
 * @throws NoArchive; an AbortError if the person gave up
 */
export async function saveArchive(folder: string, name: string, watch: ArchiveWatch): Promise<void> {
  const picker = (window as { showSaveFilePicker?: SavePicker }).showSaveFilePicker
  // First, because only a click may open this dialog.
  const target = picker ? await (await picker({ suggestedName: `${name}.zip` })).createWritable() : null
  const zip = makeZip(contents(filesBelow(folder, watch), watch))
  if (target) return zip.pipeTo(target, { signal: watch.signal })
  const parts = await inMemory(zip, watch.signal)
  save(new Blob(parts, { type: 'application/zip' }), `${name}.zip`)
}

async function inMemory(zip: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<BlobPart[]> {
  const parts: BlobPart[] = []
  const reader = zip.getReader()
  for (let bytes = 0; ; ) {
    signal.throwIfAborted()
    const { done, value } = await reader.read()
    if (done) return parts
    bytes += value.length
    if (bytes > MAX_IN_MEMORY) {
      await reader.cancel()
      throw new NoArchive(
        'This folder is too large for an archive in this browser: it would have to keep more than 1 GB in memory. Use Chrome or Edge, or the command line: proving-ground files sync.',
      )
    }
    parts.push(value as BlobPart)
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The download has begun, and keeps the bytes itself.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Every file below a folder, found as we go: a large tree is never in memory. */
async function* filesBelow(folder: string, { onLeftOut, signal }: ArchiveWatch): AsyncGenerator<ArchiveFile> {
  const waiting = [{ path: folder, name: '' }]
  for (let here = waiting.pop(); here; here = waiting.pop()) {
    const { path, name } = here
    for (let after: string | null = null; ; ) {
      const query = new URLSearchParams({ path, ...(after === null ? {} : { after }) })
      const body = await list(query, signal)
      const folders: typeof waiting = []
      for (const entry of entriesOf({ ...body, path })) {
        const inner = name + entry.path.slice(path.length)
        if (entry.isFolder) folders.push({ path: entry.path, name: inner })
        else if (entry.isAddressable) yield { ...entry, name: inner }
        else onLeftOut()
      }
      waiting.push(...folders.toReversed())
      after = body.next
      if (after === null) break
    }
  }
}

const TRIES = 3

/** A tree may have more folders than one may list in a quarter hour. */
async function list(query: URLSearchParams, signal: AbortSignal): Promise<FileList> {
  for (let left = TRIES; ; left--) {
    const { ok, status, body, headers } = await request<FileList>('GET', `/api/v1/files?${query}`, undefined, signal)
    signal.throwIfAborted()
    if (ok) return body
    const mayPass = status === 0 || status === 429 || status >= 500
    if (left <= 1 || !mayPass) throw new NoArchive(body.error ?? 'This folder could not be listed.')
    await wait(pauseOf(headers), signal)
  }
}

const pauseOf = (headers?: Headers) => (Number(headers?.get('Retry-After')) || 1) * 1000

async function* contents(files: AsyncGenerator<ArchiveFile>, { onBytes, onGone, signal }: ArchiveWatch) {
  let bytes = 0
  for await (const { path, name, size, modifiedAt } of files) {
    const input = await open(path, signal)
    if (input === null) {
      onGone()
      continue
    }
    yield { input, name: nameInArchive(name), lastModified: new Date(modifiedAt), size }
    bytes += size
    onBytes(bytes)
  }
}

/** Null: it is gone. Not the whole answer: client-zip would decode the name in its headers, which `100%.csv` isn't. */
async function open(path: string, signal: AbortSignal): Promise<ReadableStream | null> {
  for (let left = TRIES; ; left--) {
    const answer = await fetch(contentFor(personShown(), path), { signal }).catch((error) => {
      signal.throwIfAborted()
      if (left <= 1) throw new NoArchive('The connection was lost. Try again.', { cause: error })
      return null
    })
    if (answer?.ok && answer.body) return answer.body
    if (answer?.status === 404) return null
    // The rest would be somebody else's files.
    if (answer?.status === 409) throw new NoArchive(((await answer.json()) as { error: string }).error)
    if (left <= 1) throw new NoArchive(`${inText(path)} could not be read. Try again.`)
    await wait(pauseOf(answer?.headers), signal)
  }
}

/**
 * When an archive is unpacked, a name must not lead out of its folder, or name a drive. Full-width letters instead, as
 * rclone uses on Windows: `a:b` and `a_b` stay two files.
 */
export function nameInArchive(name: string): string {
  return name
    .split('/')
    .map((part) => (/^\.{0,2}$/.test(part) ? '_' : part.replace(/[\\:*?"<>|]/g, wide)))
    .join('/')
}

const wide = (char: string) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)
