import { useEffect, useRef, useState } from 'react'
import { nameOf, toFolder } from '../../domain/file-names.ts'
import type { FileList } from '../../domain/wire/files.ts'
import { announce } from '../announce.ts'
import { request } from '../request.ts'
import { type Entry, entriesOf, pageOfFolder, shownName } from './entries.ts'

export type Folder = {
  /** Ends in a slash; '' is all of their files. */
  path: string
  /** Everything read so far. */
  entries: Entry[]
  deleting: FileList['deleting']
  used: number
  limit: number | null
  /** More names follow and are being read. */
  loading: boolean
  error: string | null
}

/** The most names that a browser sorts and filters at once. More than that belong in folders. */
const MOST_NAMES = 50_000
/** How often a visible page checks a deletion's progress, unless the folder is large. */
const LOOK_AGAIN_MS = 10_000
/** The pause before the page rereads a folder, per list it takes: a person gets 1,000 lists every 15 minutes. */
const PER_LIST_MS = 2_000

const folderOf = (list: FileList) => ({
  path: toFolder(list.path),
  deleting: list.deleting,
  used: list.used_bytes,
  limit: list.limit_bytes,
  error: null,
})

/**
 * The folder on the page. The page has its first names; the rest follow, 1,000 at a time.
 * @param after where the first names begin: a page in the middle lacks those before it
 */
export function useFolder(first: FileList, after: string | null) {
  const [folder, setFolder] = useState<Folder>(() => ({
    ...folderOf(first),
    entries: entriesOf(first),
    loading: first.next !== null,
  }))
  const reading = useRef<AbortController>(undefined)
  /** The folder that the person opened last, even if it couldn't be read. */
  const wanted = useRef(folder.path)
  /** How many lists it takes to read that folder, as far as we know. */
  const lists = useRef(1)
  const pauseMs = () => lists.current * PER_LIST_MS

  /** Reads all of a folder. Its old rows stay until the new ones arrive. */
  async function read(path: string, start: { entries: Entry[]; after: string | null } | null = null): Promise<void> {
    reading.current?.abort()
    const mine = new AbortController()
    reading.current = mine
    if (path !== wanted.current) lists.current = 1
    wanted.current = path
    setFolder((before) => ({ ...before, loading: true, error: null }))
    let { entries, after }: { entries: Entry[]; after: string | null } = start ?? { entries: [], after: null }
    let pages = 0
    do {
      const query = new URLSearchParams({ path, ...(after === null ? {} : { after }) })
      const { ok, status, body } = await request<FileList>('GET', `/api/v1/files?${query}`, undefined, mine.signal)
      if (mine.signal.aborted) return
      // The server says why on the sign-in page, which leads back here.
      if (status === 401) return location.reload()
      if (!ok) return setFolder((before) => ({ ...before, loading: false, error: body.error ?? 'Network error' }))
      lists.current = Math.max(lists.current, ++pages)
      entries = [...entries, ...entriesOf({ ...body, path })]
      after = body.next
      setFolder({ ...folderOf({ ...body, path }), entries, loading: after !== null && entries.length < MOST_NAMES })
    } while (after !== null && entries.length < MOST_NAMES)
  }

  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (after !== null) void latest.current(toFolder(first.path))
    else if (first.next !== null)
      void latest.current(toFolder(first.path), { entries: entriesOf(first), after: first.next })
    const back = () => {
      const to = toFolder(new URLSearchParams(location.search).get('path') ?? '')
      entitle(to)
      void latest.current(to)
    }
    window.addEventListener('popstate', back)
    return () => window.removeEventListener('popstate', back)
    // Once, for what the server left out.
  }, [])

  const { path, deleting, loading } = folder
  const isGoing = deleting.length > 0 && !loading
  useEffect(() => {
    if (!isGoing) return
    const timer = window.setInterval(
      () => {
        if (document.visibilityState === 'visible') void latest.current(path)
      },
      Math.max(LOOK_AGAIN_MS, pauseMs()),
    )
    return () => clearInterval(timer)
  }, [isGoing, path])

  /** Opens another folder without leaving the page, which may be sending files. */
  async function open(to: string): Promise<void> {
    history.pushState(null, '', pageOfFolder(to))
    await read(to)
    announce(`Folder ${entitle(to)}`)
    document.querySelector<HTMLElement>('.crumbs [aria-current]')?.focus()
  }

  return { folder, open: (to: string) => void open(to), reload: () => void read(wanted.current), pauseMs }
}

/** Gives the page its folder's name, and returns it. */
function entitle(path: string): string {
  const name = path === '' ? 'Files' : shownName(nameOf(path))
  document.title = `${name} · Proving Ground`
  return name
}
