import { useRef, useState } from 'react'
import type { FileList } from '../../domain/wire.ts'
import { request } from '../request.ts'
import { type Entry, entriesOf, pageOfFolder } from './entries.ts'

export type Folder = {
  path: string
  /** All that was read so far. */
  entries: Entry[]
  used: number
  limit: number | null
  /** More names follow, and are being read. */
  loading: boolean
  error: string | null
}

/** A browser sorts and filters this many names at once; more must be in folders. */
const MOST_NAMES = 50_000

/** The folder on the page. The first names came with it; the others follow, a page of 1,000 at a time. */
export function useFolder(first: FileList) {
  const [folder, setFolder] = useState<Folder>(() => ({
    path: first.path,
    entries: entriesOf(first),
    used: first.used_bytes,
    limit: first.limit_bytes,
    loading: first.next !== null,
    error: null,
  }))
  const latest = useRef<AbortController>(undefined)

  /** Reads a folder, whole. Its old rows stay until the new ones are there. */
  async function read(path: string, start: { entries: Entry[]; after: string | null } | null = null): Promise<void> {
    latest.current?.abort()
    const mine = new AbortController()
    latest.current = mine
    setFolder((before) => ({ ...before, loading: true, error: null }))
    let entries = start?.entries ?? []
    let after = start?.after ?? null
    do {
      const query = new URLSearchParams({ path, ...(after === null ? {} : { after }) })
      const { ok, status, body } = await request<FileList>('GET', `/api/v1/files?${query}`, undefined, mine.signal)
      if (mine.signal.aborted) return
      // The server says why on the sign-in page, which leads back here.
      if (status === 401) return location.reload()
      if (!ok) return setFolder((before) => ({ ...before, loading: false, error: body.error ?? 'Network error' }))
      entries = [...entries, ...entriesOf(body)]
      after = body.next
      const loading = after !== null && entries.length < MOST_NAMES
      const read = { path, entries, used: body.used_bytes, limit: body.limit_bytes, loading, error: null }
      setFolder(read)
    } while (after !== null && entries.length < MOST_NAMES)
  }

  return {
    folder,
    /** Goes to another folder without leaving the page, which may be sending files. */
    async open(path: string): Promise<void> {
      history.pushState(null, '', pageOfFolder(path))
      await read(path)
    },
    read,
    /** What the server's HTML left out. */
    readRest: () =>
      first.next === null ? undefined : read(first.path, { entries: entriesOf(first), after: first.next }),
  }
}
