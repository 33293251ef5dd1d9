import { windowOf } from '../../src/server/files/temporary-credentials.ts'
import type { Bucket, CredentialsMode } from '../../src/server/ports/bucket.ts'

type Given = { prefix: string; mode: CredentialsMode; seconds: number; expiresAt: number }
type Link = { key: string; size: number; replaces: string | null; expiresAt: number }

/** What a bucket says to someone whose credentials don't allow it. */
export class BucketRefusal extends Error {}

const sumOf = (parts: Map<number, number> | undefined) => [...(parts?.values() ?? [])].reduce((a, b) => a + b, 0)

/**
 * A bucket in memory, for tests of rules: it dies when told to. It signs nothing, but it knows its links and credentials
 * again.
 * @param changed hears of each key that is written or removed
 */
export function memoryBucket(now: () => number, changed: (key: string) => void = () => {}) {
  type Kept = { size: number; modifiedAt: number; parts?: number }
  const files = new Map<string, Kept>()
  const given: Given[] = []
  const begun = new Map<string, { key: string; begunAt: number; parts: Map<number, number> }>()
  const links: Link[] = []
  /** How many calls work before one fails; null: all. */
  let callsLeft: number | null = null
  let lists = 0
  let uploads = 0
  let calls = 0
  const kept = new Set<string>()
  let broken: string | null = null

  function call(key: string): void {
    calls++
    if (broken !== null && key.startsWith(broken)) throw new Error('The bucket has lost this folder')
    if (callsLeft === null) return
    if (callsLeft === 0) throw new Error('The bucket is gone')
    callsLeft--
  }
  const stored = (key: string, { size, modifiedAt, parts }: Kept = files.get(key) ?? { size: 0, modifiedAt: 0 }) => ({
    key,
    size,
    modifiedAt,
    etag: `"${size}.${modifiedAt}${parts === undefined ? '' : `-${parts}`}"`,
  })
  function set(key: string, file: Kept): void {
    files.set(key, file)
    changed(key)
  }
  function remove(key: string): void {
    if (files.delete(key)) changed(key)
  }

  const bucket: Bucket = {
    async list({ prefix, delimiter, after, startAfter, most = 1000 }) {
      call(prefix)
      lists++
      const keys = [...files.keys()].filter((key) => key.startsWith(prefix) && key > (after ?? startAfter ?? '')).sort()
      const found = { files: [] as ReturnType<typeof stored>[], prefixes: [] as string[], otherClass: 0 }
      for (const key of keys) {
        if (found.files.length + found.prefixes.length === most)
          return { ...found, next: found.files.at(-1)?.key ?? null, at: now() }
        const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
        const folder = key.slice(0, end + 1)
        if (end < 0) found.files.push(stored(key))
        else if (!found.prefixes.includes(folder)) found.prefixes.push(folder)
      }
      return { ...found, next: null, at: now() }
    },
    async find(key) {
      call(key)
      return files.has(key) ? stored(key) : null
    },
    async remove(keys) {
      call(keys[0] ?? '')
      for (const key of keys) if (!kept.has(key)) remove(key)
    },
    async signDownload(key) {
      return `memory:${key}`
    },
    async signUpload(key, { seconds, size, replaces }) {
      const expiresAt = now() + seconds * 1000
      const nth = links.push({ key, size, replaces, expiresAt }) - 1
      return { url: `memory:${nth}`, method: 'PUT', headers: {}, expiresAt }
    },
    async startParts(key) {
      call(key)
      const uploadId = `upload-${++uploads}`
      begun.set(uploadId, { key, begunAt: now(), parts: new Map() })
      return uploadId
    },
    async signPart(key, _, { seconds }) {
      return { url: `memory:${key}`, method: 'PUT', headers: {}, expiresAt: now() + seconds * 1000 }
    },
    async listParts(key, uploadId) {
      call(key)
      const parts = begun.get(uploadId)?.parts
      return parts ? [...parts].map(([part, size]) => ({ part, size, etag: `"${part}"` })) : null
    },
    async completeParts(key, uploadId, _, replaces) {
      call(key)
      if (!begun.has(uploadId) || (files.has(key) ? stored(key).etag : null) !== replaces) return false
      const parts = begun.get(uploadId)?.parts
      set(key, { size: sumOf(parts), modifiedAt: now(), parts: parts?.size ?? 0 })
      begun.delete(uploadId)
      return true
    },
    async abortParts(key, uploadId) {
      call(key)
      begun.delete(uploadId)
    },
    async listUploads(prefix, after) {
      call(prefix)
      const orderOf = ({ key, uploadId }: { key: string; uploadId: string }) => `${key}\0${uploadId}`
      const left = [...begun]
        .map(([uploadId, { key, begunAt }]) => ({ key, uploadId, begunAt }))
        .filter((one) => one.key.startsWith(prefix) && (after === null || orderOf(one) > orderOf(after)))
        .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
      return { uploads: left.slice(0, 1000), next: left.length > 1000 ? (left[999] ?? null) : null }
    },
    async temporaryCredentials(prefix, mode, seconds) {
      const expiresAt = windowOf(now(), seconds).until
      const nth = given.push({ prefix, mode, seconds, expiresAt }) - 1
      return { accessKeyId: `memory-${nth}`, secretAccessKey: 'b', sessionToken: 'c', expiresAt }
    },
  }

  /** What someone with these credentials may do. @throws what the bucket would refuse */
  function openWith(accessKeyId: string) {
    const require = (key: string, mode: CredentialsMode) => {
      const found = given[Number(accessKeyId.replace('memory-', ''))]
      if (!found || now() >= found.expiresAt) throw new BucketRefusal('ExpiredToken')
      if (!key.startsWith(found.prefix) || (mode === 'write' && found.mode === 'read'))
        throw new BucketRefusal('AccessDenied')
    }
    return {
      list(prefix: string): Map<string, number> {
        require(prefix, 'read')
        return new Map([...files].flatMap(([key, { size }]) => (key.startsWith(prefix) ? [[key, size] as const] : [])))
      },
      put(key: string, size: number): void {
        require(key, 'write')
        set(key, { size, modifiedAt: now() })
      },
      remove(key: string): void {
        require(key, 'write')
        remove(key)
      },
    }
  }
  return {
    bucket,
    given,
    put: (key: string, size: number, modifiedAt = now()) => set(key, { size, modifiedAt }),
    openWith,
    /** Sends what a link of `signUpload` is for. @returns whether the bucket took it */
    putByLink(url: string): boolean {
      const link = links[Number(url.replace('memory:', ''))]
      if (!link || now() >= link.expiresAt) return false
      if ((files.has(link.key) ? stored(link.key).etag : null) !== link.replaces) return false
      set(link.key, { size: link.size, modifiedAt: now() })
      return true
    },
    /** A part arrives. */
    putPart: (uploadId: string, part: number, size: number) => void begun.get(uploadId)?.parts.set(part, size),
    /** Uploads in parts that are open. */
    begun: () => [...begun.keys()],
    keys: () => [...files.keys()].sort(),
    /** Sizes by key. */
    files: () => new Map([...files].map(([key, { size }]) => [key, size])),
    /** When each was written. */
    times: () => new Map([...files].map(([key, { modifiedAt }]) => [key, modifiedAt])),
    lists: () => lists,
    calls: () => calls,
    /** It says that it removes this, and doesn't. */
    keepForever: (key: string) => void kept.add(key),
    /** Only what is below this fails. */
    failBelow: (prefix: string | null) => {
      broken = prefix
    },
    dieAfter: (calls: number | null) => {
      callsLeft = calls
    },
  }
}
