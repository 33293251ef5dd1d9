import { bytesOfParts, lengthOfPart, MAX_WHOLE, partSizeOf, partsLeft } from '../../domain/file-parts.ts'
import { changedMeanwhile } from '../../domain/files.ts'
import type { FileUpload, PartLinks, PartsUpload } from '../../domain/wire/files.ts'
import type { request } from '../request.ts'
import type { Put } from './put.ts'

/** What sending a file needs from outside: our calls, the bucket, and time. */
export type Line = {
  request: typeof request
  put: Put
  /** Whether the bucket has this file at this path. @throws if nobody can say now */
  holds: (path: string, file: Blob, signal: AbortSignal) => Promise<boolean>
  /** Resolves after this time, or as soon as the network is back. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export type Chosen = {
  /** Where it goes. */
  path: string
  file: Blob
  /** Changes with the file. */
  version: string
  /** The etag of what it may replace, as of its first link; empty: nothing. Kept here, so that a pause forgets nothing. */
  replaces?: string
}

type Watch = {
  onSent: (bytes: number) => void
  /** What it is waiting for; null while bytes flow. */
  onWait: (why: 'network' | 'busy' | null) => void
  signal: AbortSignal
}

/** Why a file can't be sent, in words. */
export class Refused extends Error {
  readonly status: number
  constructor(message: string, status = 0) {
    super(message)
    this.status = status
  }
}

const AT_ONCE = 3
/** How many parts' links we request per call. */
const LINKS = 12
/** A bucket that refuses a link this often won't change its mind. */
const MOST_REFUSALS = 5
const LONGEST_WAIT_MS = 30_000

/**
 * Sends one file, however often the connection breaks. Resolves when it is in the bucket, or when `signal` aborts.
 * @throws Refused
 */
export async function sendFile(line: Line, chosen: Chosen, watch: Watch): Promise<void> {
  await (chosen.file.size > MAX_WHOLE ? sendParts : sendWhole)(line, chosen, watch)
}

async function sendWhole(line: Line, chosen: Chosen, watch: Watch): Promise<void> {
  const { path, file } = chosen
  const retry = retries(line, watch)
  for (;;) {
    const answer = await ask<{ upload: FileUpload }>(line, watch, '/api/v1/files', { path, size: file.size })
    if (!answer) return
    const found = answer.upload.headers['If-Match'] ?? ''
    chosen.replaces ??= found
    // Either an earlier try arrived and we never heard, or someone else wrote there.
    if (found !== chosen.replaces) {
      const isThere = await line.holds(path, file, watch.signal).catch(() => null)
      if (isThere || watch.signal.aborted) return
      if (isThere === false) {
        // They know now. Trying again replaces this, and nothing newer.
        chosen.replaces = found
        throw new Refused(changedMeanwhile(path), 409)
      }
      await retry(0, file)
      continue
    }
    const { status } = await line.put(answer.upload, file, watch)
    if (watch.signal.aborted || (await retry(status, file)) === 'done') return
  }
}

const SAMPLE_BYTES = 4096
const SAMPLES_PER_PART = 4

/** Only the same file continues an upload. Some programs give every build the same size and time, so we look inside too. */
async function versionOf({ file, version }: Chosen): Promise<string> {
  const step = partSizeOf(file.size) / SAMPLES_PER_PART
  const starts = Array.from({ length: Math.ceil(file.size / step) }, (_, i) => i * step)
  const samples = new Blob([version, ...starts.map((start) => file.slice(start, start + SAMPLE_BYTES))])
  const hash = await crypto.subtle.digest('SHA-256', await samples.arrayBuffer())
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function sendParts(line: Line, chosen: Chosen, watch: Watch): Promise<void> {
  const { path, file } = chosen
  const { size } = file
  const wanted = { path, size, version: await versionOf(chosen) }
  const begun = await ask<{ upload: PartsUpload }>(line, watch, '/api/v1/files/uploads', wanted)
  if (!begun) return
  const { id, done } = begun.upload
  const sent = new Map<number, number>()
  const before = bytesOfParts(size, done)
  const report = () => watch.onSent(before + [...sent.values()].reduce((sum, bytes) => sum + bytes, 0))
  report()
  const left = partsLeft(size, done).values()
  const links = linksTo(line, watch, id, partsLeft(size, done))
  const lane = async () => {
    for (const part of left) {
      const start = (part - 1) * partSizeOf(size)
      const content = file.slice(start, start + lengthOfPart(size, part))
      const retry = retries(line, watch)
      for (;;) {
        const link = await links(part)
        if (!link || watch.signal.aborted) return
        const onSent = (bytes: number) => {
          sent.set(part, bytes)
          report()
        }
        const { status } = await line.put(link, content, { onSent, signal: watch.signal })
        if (watch.signal.aborted) return
        if ((await retry(status, content)) === 'done') break
        onSent(0)
        links.forget(part)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane)).catch((error) => {
    // Another tab may have completed this upload: asking to complete it says whether it did.
    if (!(error instanceof Refused && error.status === 404)) throw error
  })
  if (!watch.signal.aborted) await ask(line, watch, `/api/v1/files/uploads/${id}/complete`)
}

/** Requests links a few parts ahead, and new ones in place of refused ones. */
function linksTo(line: Line, watch: Watch, id: string, parts: number[]) {
  type Link = PartLinks['parts'][number]
  const known = new Map<number, Promise<Link | undefined>>()
  const request = (wanted: number[]) => {
    const answer = ask<PartLinks>(line, watch, `/api/v1/files/uploads/${id}/parts`, { parts: wanted })
    for (const part of wanted) {
      const link = answer.then((found) => found?.parts.find((one) => one.part === part))
      // The code that needs this part gets the failure.
      link.catch(() => {})
      known.set(part, link)
    }
  }
  const get = (part: number) => {
    if (!known.has(part)) {
      const from = parts.indexOf(part)
      request(parts.slice(from, from + LINKS).filter((one) => !known.has(one)))
    }
    return known.get(part)
  }
  return Object.assign(get, { forget: (part: number) => known.delete(part) })
}

/** Repeats one of our calls until it is answered. Undefined: aborted in the meantime. @throws Refused */
async function ask<T>(line: Line, watch: Watch, path: string, json?: unknown): Promise<T | undefined> {
  for (let tries = 0; ; tries++) {
    const { ok, status, body, headers } = await line.request<T>('POST', path, json, watch.signal)
    if (watch.signal.aborted) return undefined
    if (ok) {
      watch.onWait(null)
      return body
    }
    const isBusy = status === 429 || status >= 500
    if (status !== 0 && !isBusy) throw new Refused(body.error ?? 'This file was refused.', status)
    watch.onWait(status === 0 ? 'network' : 'busy')
    const seconds = Number(headers?.get('Retry-After'))
    await line.wait(seconds > 0 ? seconds * 1000 : backOff(tries), watch.signal)
    if (watch.signal.aborted) return undefined
  }
}

/** What to do after the bucket's answer. @throws Refused; a DOMException if the file can't be read anymore */
function retries(line: Line, watch: Watch) {
  let losses = 0
  let refusals = 0
  return async (status: number, content: Blob): Promise<'done' | 'again'> => {
    if (status >= 200 && status < 300) return 'done'
    watch.onSent(0)
    // Either the link is too old, or something else is there now. A new link says which.
    if (status >= 400 && status < 500) {
      refusals += 1
      if (refusals >= MOST_REFUSALS) throw new Refused('The storage refused this file. Try again later.')
      return 'again'
    }
    // A browser reports a missing file the same way as a missing network.
    if (status === 0) await content.slice(0, 1).arrayBuffer()
    watch.onWait(status === 0 ? 'network' : 'busy')
    await line.wait(backOff(losses), watch.signal)
    watch.onWait(null)
    losses += 1
    return 'again'
  }
}

function backOff(tries: number): number {
  return Math.min(LONGEST_WAIT_MS, 1000 * 2 ** tries)
}
