import { inText, nameOf } from '../../domain/file-names.ts'
import { toNewPath } from '../../domain/files.ts'
import type { Chosen } from './send-file.ts'

/** A file that someone chose or dropped, with its folders; null: their browser can't read it, or a folder. */
export type Picked = { name: string; file: File | null }

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
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
      found.push({ name, file })
    } else for await (const inner of entriesIn(entry as FileSystemDirectoryEntry)) await filesOf(inner, found)
  } catch {
    // No permission, for instance, or a name that isn't UTF-8. The others can still go.
    found.push({ name, file: null })
  }
  return found
}

/** Each call gives up to 100, and an empty list at the end. */
async function* entriesIn(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    yield* some
  }
}

/** What can go into `folder`, whose path ends in a slash, and a sentence about each that can't. */
export function chosenFor(folder: string, picked: Picked[]): { chosen: Chosen[]; refused: string[] } {
  const chosen: Chosen[] = []
  const refused: string[] = []
  const paths = new Set<string>()
  for (const { name, file } of picked) {
    const last = nameOf(name)
    if (LITTER.has(last) && picked.length > 1) continue
    const { path, fault } = toNewPath(folder + name)
    // Names that differ only in how their letters are composed become one path.
    if (file === null) refused.push(`${inText(last)}: Your browser can't read this, or something in it.`)
    else if (fault) refused.push(`${inText(last)}: ${fault}`)
    else if (paths.has(path))
      refused.push(`${inText(last)}: Another of these files has the same name. Rename one of them.`)
    else chosen.push({ path, file, version: String(file.lastModified) })
    paths.add(path)
  }
  return { chosen, refused }
}
