import { inText } from '../../domain/file-names.ts'
import { toNewPath } from '../../domain/files.ts'
import type { Chosen } from './send-file.ts'

/** A file that someone chose or dropped, with its folders. */
export type Picked = { name: string; file: File }

/** Files that operating systems leave behind, and nobody means to keep. */
const LITTER = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini'])

/** The files of an `<input type="file">`, including one for whole folders. */
export function pickedIn(files: Iterable<File>): Picked[] {
  return [...files].map((file) => ({ name: file.webkitRelativePath || file.name, file }))
}

/**
 * What was dropped, with all contents of folders. An image from another page is a file without an entry. The browser
 * empties a drop when its event ends, so we take everything before waiting for anything.
 */
export async function pickedFrom(dropped: DataTransfer): Promise<Picked[]> {
  const dragged = [...dropped.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
  const found = await Promise.all(dragged.map((it) => (it instanceof File ? pickedIn([it]) : it ? filesOf(it) : [])))
  return found.flat()
}

async function filesOf(entry: FileSystemEntry, found: Picked[] = []): Promise<Picked[]> {
  const name = entry.fullPath.replace(/^\//, '')
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    found.push({ name, file })
    return found
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // Each call gives up to 100, and an empty list at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return found
    for (const inner of some) await filesOf(inner, found)
  }
}

/** What can go into `folder`, whose path ends in a slash, and a sentence about each that can't. */
export function chosenFor(folder: string, picked: Picked[]): { chosen: Chosen[]; refused: string[] } {
  const chosen: Chosen[] = []
  const refused: string[] = []
  for (const { name, file } of picked) {
    const last = name.slice(name.lastIndexOf('/') + 1)
    if (LITTER.has(last) && picked.length > 1) continue
    const { path, fault } = toNewPath(folder + name)
    if (fault) refused.push(`${inText(last)}: ${fault}`)
    else chosen.push({ path, file, version: String(file.lastModified) })
  }
  return { chosen, refused }
}
