import type { Bucket, CredentialsMode } from '../../src/server/ports/bucket.ts'

type Given = { prefix: string; mode: CredentialsMode; seconds: number }

/** A bucket in memory, for tests of rules: it signs nothing, and dies when told to. */
export function memoryBucket(now: () => number) {
  const files = new Map<string, { size: number; modifiedAt: number }>()
  const given: Given[] = []
  /** How many calls work before one fails; null: all. */
  let callsLeft: number | null = null
  let lists = 0

  function call(): void {
    if (callsLeft === null) return
    if (callsLeft === 0) throw new Error('The bucket is gone')
    callsLeft--
  }
  const stored = (key: string, { size, modifiedAt } = files.get(key) ?? { size: 0, modifiedAt: 0 }) => ({
    key,
    size,
    modifiedAt,
    etag: `"${size}-${modifiedAt}"`,
  })

  const bucket: Bucket = {
    async list({ prefix, delimiter, after, most = 1000 }) {
      call()
      lists++
      const keys = [...files.keys()].filter((key) => key.startsWith(prefix) && key > (after ?? '')).sort()
      const found = { files: [] as ReturnType<typeof stored>[], prefixes: [] as string[] }
      for (const key of keys) {
        if (found.files.length + found.prefixes.length === most)
          return { ...found, next: found.files.at(-1)?.key ?? null }
        const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
        const folder = key.slice(0, end + 1)
        if (end < 0) found.files.push(stored(key))
        else if (!found.prefixes.includes(folder)) found.prefixes.push(folder)
      }
      return { ...found, next: null }
    },
    async find(key) {
      call()
      return files.has(key) ? stored(key) : null
    },
    async putEmpty(key) {
      call()
      files.set(key, { size: 0, modifiedAt: now() })
    },
    async copy({ key }, to) {
      call()
      const file = files.get(key)
      if (file) files.set(to, file)
      return file !== undefined
    },
    async remove(keys) {
      call()
      for (const key of keys) files.delete(key)
    },
    async signDownload(key) {
      return `memory:${key}`
    },
    async signUpload(key) {
      return { url: `memory:${key}`, method: 'PUT', headers: {} }
    },
    async startParts() {
      return 'upload'
    },
    async signPart(key) {
      return { url: `memory:${key}`, method: 'PUT', headers: {} }
    },
    async listParts() {
      return []
    },
    async completeParts() {},
    async abortParts() {},
    async temporaryCredentials(prefix, mode, seconds) {
      given.push({ prefix, mode, seconds })
      return { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', expiresAt: now() + seconds * 1000 }
    },
  }
  return {
    bucket,
    given,
    put: (key: string, size: number) => void files.set(key, { size, modifiedAt: now() }),
    keys: () => [...files.keys()].sort(),
    lists: () => lists,
    dieAfter: (calls: number | null) => {
      callsLeft = calls
    },
  }
}
