import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lengthOfPart, partCountOf, partSizeOf, partsLeft } from '../../../src/domain/file-parts.ts'
import { EXIT, Failure } from '../failure.ts'
import type { Site } from '../site.ts'
import { partOf } from './local.ts'
import { beginParts, completeParts, linkParts, linkTo, type RemoteFile, requestUpload } from './remote.ts'

const TRIES = 6
/** Parts that are in memory at once, in bytes and in number. */
const MEMORY = 256 * 1024 * 1024
const AT_ONCE = 4
/** A line that is silent for so long is broken. */
const SILENCE_MS = 60_000

export type OnBytes = (bytes: number) => void

/** Uploads one file. Broken off and repeated, it continues with the parts that are missing. */
export async function putFile(site: Site, local: string, path: string, onBytes: OnBytes): Promise<void> {
  const file = await open(local)
  try {
    const { size, mtimeMs } = await file.stat()
    if (partCountOf(size) > 1) return await putParts(site, { file, path, size, version: String(mtimeMs) }, onBytes)
    const content = await readAt(file, 0, size)
    await patiently(async () => send(await requestUpload(site, { path, size }), content))
    onBytes(size)
  } finally {
    await file.close()
  }
}

type Upload = { file: FileHandle; path: string; size: number; version: string }

async function putParts(site: Site, { file, path, size, version }: Upload, onBytes: OnBytes): Promise<void> {
  const { id, done } = await beginParts(site, { path, size, version })
  for (const part of done) onBytes(lengthOfPart(size, part))
  const left = partsLeft(size, done).values()
  const lane = async () => {
    for (const part of left) {
      const length = lengthOfPart(size, part)
      const content = await readAt(file, (part - 1) * partSizeOf(size), length)
      await patiently(async () => {
        const [link] = (await linkParts(site, id, [part])).parts
        if (link) await send(link, content)
      })
      onBytes(length)
    }
  }
  const lanes = Math.max(1, Math.min(AT_ONCE, Math.floor(MEMORY / partSizeOf(size))))
  await Promise.all(Array.from({ length: lanes }, lane))
  await completeParts(site, id)
}

async function readAt(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const content = Buffer.alloc(length)
  const { bytesRead } = await file.read(content, 0, length, start)
  if (bytesRead < length) throw new Failure(EXIT.refused, 'The file became shorter while it was uploaded. Try again.')
  return content
}

type Link = { url: string; method: string; headers: Record<string, string> }

async function send({ url, method, headers }: Link, body: Buffer): Promise<void> {
  // The longest that a slow line may take for one part.
  const signal = AbortSignal.timeout(60 * 60_000)
  const response = await fetch(url, { method, headers, body, signal })
  await response.arrayBuffer()
  // 412: an earlier try got through although its answer was lost, or someone else wrote the file. A new link decides.
  if (!response.ok) throw new Broken(`The upload was answered with HTTP ${response.status}.`)
}

/**
 * Downloads one file under a name of its own, and puts it in place at the end. Broken off and repeated, it continues,
 * unless the file has changed since.
 */
export async function getFile(
  site: Site,
  { path, from, to, onBytes }: { path: string; from: RemoteFile; to: string; onBytes: OnBytes },
): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  const version = createHash('sha256').update(`${from.size} ${from.modifiedAt}`).digest('hex')
  const part = partOf(to, version)
  onBytes(Math.min(from.size, await sizeOf(part)))
  await patiently(async () => {
    const have = await sizeOf(part)
    if (have < from.size || from.size === 0) await receive(await linkTo(site, path), part, have, onBytes)
    if ((await sizeOf(part)) !== from.size) throw new Broken('The download broke off.')
  })
  await rename(part, to)
  // So that a sync sees that they are the same.
  await utimes(to, new Date(), new Date(from.modifiedAt))
}

async function receive(link: string, part: string, have: number, onBytes: OnBytes): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const response = await fetch(link, {
    headers: have ? { Range: `bytes=${have}-` } : {},
    signal: silence.signal,
  })
  if (!response.ok || (have > 0 && response.status !== 206))
    throw new Broken(`The download was answered with HTTP ${response.status}.`)
  const file = await open(part, 'a')
  try {
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      await file.write(chunk)
      onBytes(chunk.length)
    }
  } finally {
    clearTimeout(timer)
    await file.close()
  }
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** The line or the bucket failed: another try may help. */
class Broken extends Error {}

/** Tries again for about a minute. What our site refuses is refused at once. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Failure || tries === TRIES)
        throw error instanceof Failure
          ? error
          : new Failure(EXIT.refused, `${(error as Error).message} Run the same command again to continue.`)
      await sleep(1000 * 2 ** (tries - 1))
    }
  }
}
