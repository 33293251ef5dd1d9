import { toFolder, visible } from '../../domain/file-names.ts'
import type { FileList } from '../../domain/wire/files.ts'

/** A row of the page: a folder has neither size nor time. */
export type Entry =
  | { name: string; path: string; isFolder: true }
  | { name: string; path: string; isFolder: false; size: number; modifiedAt: string; isAddressable: boolean }

export type EntryOrder = { by: 'name' | 'size' | 'modified'; descending: boolean }

export const BY_NAME: EntryOrder = { by: 'name', descending: false }
/** The most rows on the page at once, however many files there are. */
export const ROWS = 100

/** A folder's path ends in a slash: a file may have the same name. */
export function entriesOf({ path, folders, files }: Pick<FileList, 'path' | 'folders' | 'files'>): Entry[] {
  const here = toFolder(path)
  return [
    ...folders.map(({ name }) => ({ name, path: `${here}${name}/`, isFolder: true as const })),
    ...files.map(({ name, size, modified_at, unaddressable }) => ({
      name,
      path: here + name,
      isFolder: false as const,
      size,
      modifiedAt: modified_at,
      isAddressable: !unaddressable,
    })),
  ]
}

/** `run 9` before `run 10`, and letters as people sort them. Created when needed, because that takes a while. */
let names: Intl.Collator | undefined

/** Folders first, always by name; files in the chosen order. */
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

/** Ignores case and how letters are composed. */
export function filterEntries(entries: Entry[], words: string): Entry[] {
  const wanted = plain(words.trim())
  return wanted === '' ? entries : entries.filter(({ name }) => plain(name).includes(wanted))
}

const plain = (text: string) => text.normalize('NFC').toLocaleLowerCase('en')

/** The folders that lead to this one, outermost first. */
export function trailOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').slice(0, -1)
  return names.map((name, i) => ({ name, path: `${names.slice(0, i + 1).join('/')}/` }))
}

/** The address of a folder's page. */
export function pageOfFolder(path: string): string {
  return path === '' ? '/files' : `/files?path=${encodeURIComponent(path)}`
}

/** That page, asking whether to delete this, for browsers without script. */
export function pageThatAsks(path: string, { name, isFolder }: Entry): string {
  return `/files?path=${encodeURIComponent(path)}&delete=${encodeURIComponent(name + (isFolder ? '/' : ''))}`
}

export function linkToContent(path: string): string {
  return `/api/v1/files/content?path=${encodeURIComponent(path)}`
}

/** For the person whom the page shows, although someone else may have signed in since. */
export function contentFor(person: string, path: string): string {
  return linkToContent(path) + (person && `&person=${person}`)
}

/** Where a file or folder is deleted. */
export function linkToFile(path: string, onlyFile = false): string {
  return `/api/v1/files?path=${encodeURIComponent(path)}${onlyFile ? '&only=file' : ''}`
}

/** Programs may write files and folders without a name. */
export function shownName(name: string): string {
  return name === '' ? '(no name)' : visible(name)
}
