import { useState } from 'react'
import type { FolderSize } from '../../domain/wire/files.ts'
import { request } from '../request.ts'
import type { Doomed } from './DeleteDialog.tsx'
import { type Entry, linkToFile } from './entries.ts'

/** Deletes a file or folder, after a dialog that says what will be deleted. */
export function useDelete(onDone: (message: string) => void) {
  const [doomed, setDoomed] = useState<Doomed | null>(null)
  /** Updates the dialog, unless it now asks about something else. */
  const change = (path: string, fields: Partial<Doomed>) =>
    setDoomed((now) => (now?.path === path ? { ...now, ...fields } : now))

  async function ask({ name, path, isFolder }: Entry): Promise<void> {
    setDoomed({ name, path, size: isFolder ? 'counting' : null, error: null, busy: false })
    if (!isFolder) return
    const { ok, body } = await request<FolderSize>('GET', `/api/v1/files/size?path=${encodeURIComponent(path)}`)
    change(path, ok ? { size: body } : { error: body.error ?? 'Network error' })
  }

  async function act(): Promise<void> {
    if (!doomed || doomed.busy) return
    const { path } = doomed
    change(path, { busy: true, error: null })
    const { ok, body } = await request<{ message: string }>('DELETE', linkToFile(path, doomed.name === ''))
    if (!ok) return change(path, { busy: false, error: body.error ?? 'Network error' })
    setDoomed(null)
    onDone(body.message)
  }

  return {
    doomed,
    ask: (entry: Entry) => void ask(entry),
    act: () => void act(),
    close: () => setDoomed(null),
  }
}
