import { useEffect, useRef, useState } from 'react'
import { inText, nameOf } from '../../domain/files.ts'
import type { FileDeletion, FileList } from '../../domain/wire.ts'
import type { AlertKind } from '../../ui/Alert.tsx'
import { announce } from '../announce.ts'
import { request } from '../request.ts'
import type { Asked } from './AskDialog.tsx'
import { pathIn } from './entries.ts'
import type { RowActs } from './FileTable.tsx'
import { DELETE_WORDS } from './PlainForms.tsx'
import type { Previewed } from './Preview.tsx'
import { previewKind } from './preview-kind.ts'
import { useFolder } from './useFolder.ts'

type Notice = { kind: AlertKind; text: string; undo: string | null; nth: number }
type Asking = { asked: Asked; error: string | null; busy: boolean; nth: number }

/** What people do with files and folders, and what they see of it. */
export function useFileActs(props: { list: FileList; after: string | null; deletions: FileDeletion[] }) {
  const { folder, open, read, readRest } = useFolder(props.list)
  const { path } = folder
  const [notice, setNotice] = useState<Notice | null>(null)
  const [asked, setAsked] = useState<Asking | null>(null)
  const [previewed, setPreviewed] = useState<Previewed | null>(null)
  const [archive, setArchive] = useState<{ name: string; bytes: number } | null>(null)
  const [deletions, setDeletions] = useState(props.deletions)
  const stop = useRef<AbortController>(undefined)
  const nth = useRef(0)
  const tell = (kind: AlertKind, text: string, undo: string | null = null) => {
    nth.current += 1
    setNotice({ kind, text, undo, nth: nth.current })
  }
  const reload = () => void read(path)

  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    // A page of names in the middle has none of those before it.
    if (props.after !== null) void latest.current(props.list.path)
    else void readRest()
    const back = () => void latest.current(new URLSearchParams(location.search).get('path') ?? '')
    window.addEventListener('popstate', back)
    return () => {
      window.removeEventListener('popstate', back)
      stop.current?.abort()
    }
    // Once, for what the server left out.
  }, [])

  async function go(to: string): Promise<void> {
    await open(to)
    document.title = `${to === '' ? 'Files' : nameOf(to)} · Proving Ground`
    announce(`Folder ${to === '' ? 'Files' : nameOf(to)}`)
    document.querySelector<HTMLElement>('.crumbs [aria-current]')?.focus()
  }

  async function readDeletions(): Promise<void> {
    const { ok, body } = await request<{ deletions: FileDeletion[] }>('GET', '/api/v1/files/deletions')
    if (ok) setDeletions(body.deletions)
  }

  /** Sends a change. @returns why not, or null */
  async function send<T>(
    method: 'POST' | 'DELETE',
    address: string,
    json?: unknown,
    done?: (body: T & { message: string }) => void,
  ): Promise<string | null> {
    const { ok, body } = await request<T & { message: string }>(method, address, json)
    if (!ok) return body.error ?? 'Network error'
    if (done) done(body)
    else tell('success', body.message)
    reload()
    return null
  }

  async function undo(id: string): Promise<void> {
    const why = await send('POST', `/api/v1/files/deletions/${id}/undo`)
    if (why !== null) tell('danger', why)
    await readDeletions()
  }

  const ask = (question: Asked) => {
    nth.current += 1
    setAsked({ asked: question, error: null, busy: false, nth: nth.current })
  }

  async function answer(name: string): Promise<void> {
    if (!asked || asked.busy) return
    setAsked({ ...asked, busy: true, error: null })
    const why = await asked.asked.act(name)
    setAsked(why === null ? null : { ...asked, busy: false, error: why })
  }

  async function saveArchive(from: string, name: string): Promise<void> {
    stop.current?.abort()
    const mine = new AbortController()
    stop.current = mine
    const part = await import('./archive.ts').catch(() => null)
    if (!part) return tell('danger', "This part of the page couldn't be loaded. Reload the page to use it.")
    const { saveArchive: save, NoArchive } = part
    try {
      const onBytes = (bytes: number) => setArchive({ name, bytes })
      await save(from, name, { onBytes, signal: mine.signal })
      tell('success', `Saved ${inText(`${name}.zip`)}.`)
    } catch (error) {
      // They closed the question where to save it, or canceled.
      const gaveUp = mine.signal.aborted || (error as Error).name === 'AbortError'
      if (!gaveUp)
        tell('danger', error instanceof NoArchive ? error.message : 'The archive could not be saved. Try again.')
    }
    if (stop.current === mine) setArchive(null)
  }

  const rows: RowActs = {
    onOpen: (to) => void go(to),
    onPreview: (entry) => {
      const kind = entry.isFolder ? null : previewKind(entry.name, entry.size)
      if (entry.isFolder || kind === null) return
      setPreviewed({ path: pathIn(path, entry.name), name: entry.name, size: entry.size, kind })
    },
    onArchive: (name) => void saveArchive(pathIn(path, name), name),
    onRename: (name) =>
      ask({
        title: 'Rename',
        about: name,
        words: 'Servers that are running see the new name within seconds.',
        name: { label: 'New name', before: name },
        yes: 'Rename',
        act: (to) => send('POST', '/api/v1/files/moves', { path: pathIn(path, name), to: pathIn(path, to) }),
      }),
    onDelete: (name) =>
      ask({
        title: 'Delete',
        about: name,
        words: DELETE_WORDS,
        name: null,
        yes: 'Delete',
        danger: true,
        act: () =>
          send<{ deletion: { id: string } }>(
            'DELETE',
            `/api/v1/files?path=${encodeURIComponent(pathIn(path, name))}`,
            undefined,
            ({ message, deletion }) => {
              tell('success', message, deletion.id)
              void readDeletions()
            },
          ),
      }),
  }

  return {
    folder,
    reload,
    open: (to: string) => void go(to),
    notice,
    dismiss: () => setNotice(null),
    undo,
    deletions,
    asked,
    answer: (name: string) => void answer(name),
    closeAsk: () => setAsked(null),
    askForFolder: () =>
      ask({
        title: 'New folder',
        words: path === '' ? 'In your files.' : `In ${inText(nameOf(path))}.`,
        name: { label: 'Name', before: '' },
        yes: 'Create',
        act: (name) => send('POST', '/api/v1/files/folders', { path: pathIn(path, name) }),
      }),
    saveArchive: (from: string, name: string) => void saveArchive(from, name),
    archive,
    stopArchive: () => stop.current?.abort(),
    previewed,
    closePreview: () => setPreviewed(null),
    rows,
  }
}
