import type { FileList } from '../../domain/wire.ts'

/** A row of the page: a folder has neither size nor time. */
export type Entry =
  | { name: string; isFolder: true }
  | { name: string; isFolder: false; size: number; modifiedAt: string }

export type EntryOrder = { by: 'name' | 'size' | 'modified'; descending: boolean }

export const BY_NAME: EntryOrder = { by: 'name', descending: false }
/** Rows in the page at once, however many files there are. */
export const ROWS = 100

export function entriesOf({ folders, files }: Pick<FileList, 'folders' | 'files'>): Entry[] {
  return [
    ...folders.map(({ name }) => ({ name, isFolder: true as const })),
    ...files.map(({ name, size, modified_at }) => ({ name, isFolder: false as const, size, modifiedAt: modified_at })),
  ]
}

/** `run 9` before `run 10`, and letters as people sort them. Made when needed: it takes a while. */
let names: Intl.Collator | undefined

/** Folders first, always by name; files in this order. */
export function sortEntries(entries: Entry[], { by, descending }: EntryOrder): Entry[] {
  const sign = descending ? -1 : 1
  names ??= new Intl.Collator('en', { numeric: true })
  const { compare } = names
  return entries.toSorted((a, b) => {
    if (a.isFolder !== b.isFolder) return a.isFolder ? -1 : 1
    const byName = compare(a.name, b.name)
    if (a.isFolder || b.isFolder || by === 'name') return by === 'name' ? sign * byName : byName
    const order =
      by === 'size' ? a.size - b.size : a.modifiedAt < b.modifiedAt ? -1 : a.modifiedAt > b.modifiedAt ? 1 : 0
    return order === 0 ? byName : sign * order
  })
}

/** Letters in any case and spelling. */
export function filterEntries(entries: Entry[], words: string): Entry[] {
  const wanted = plain(words.trim())
  return wanted === '' ? entries : entries.filter(({ name }) => plain(name).includes(wanted))
}

const plain = (text: string) => text.normalize('NFC').toLocaleLowerCase('en')

export function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

export function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/** The folders on the way to this one, the outermost first. */
export function trailOf(path: string): { name: string; path: string }[] {
  if (path === '') return []
  const names = path.split('/')
  return names.map((name, i) => ({ name, path: names.slice(0, i + 1).join('/') }))
}

/** The page of a folder. */
export function pageOfFolder(path: string): string {
  return path === '' ? '/files' : `/files?path=${encodeURIComponent(path)}`
}

export function linkToContent(path: string): string {
  return `/api/v1/files/content?path=${encodeURIComponent(path)}`
}
