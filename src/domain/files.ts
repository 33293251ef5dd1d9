/** Names of files and folders in someone's private folder, which their machines see as /data. */

/** In UTF-8. With our own prefix in front, a key stays below the 1,024 bytes that buckets allow. */
const MAX_PATH_BYTES = 512

/** Turn the text around them, so `exe.png` may read as `gnp.exe`. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is the rule
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/**
 * Why nothing can have this path; null if something can. Programs on a machine may write names that we would refuse,
 * so this is only about what could lead out of the folder.
 * @param path of a file, or of a folder without its last slash
 */
export function faultOfPath(path: string): string | null {
  if (path === '') return 'Name a file, for instance "runs/flight.csv".'
  if (path.startsWith('/')) return 'A path doesn\'t begin with a slash. Write "runs/flight.csv", for instance.'
  if (CONTROL.test(path) || !path.isWellFormed()) return "A path can't have control characters."
  const segments = path.split('/')
  if (segments.some((segment) => segment === '..' || segment === '.'))
    return 'A path can\'t have "." or ".." as a folder.'
  if (new TextEncoder().encode(path).length > MAX_PATH_BYTES)
    return `A path can have ${MAX_PATH_BYTES} bytes, and this one has more. Use shorter names.`
  return null
}

/** The same for a path that we write: nothing may look like another name, or be lost on the way to a disk. */
export function faultOfNewPath(path: string): string | null {
  const fault = faultOfPath(path)
  if (fault) return fault
  if (path.split('/').includes(''))
    return 'Every folder in a path needs a name: it has two slashes in a row, or ends in one.'
  if (REORDERING.test(path)) return "A path can't have characters that change the direction of the text around them."
  return null
}

/** Letters with marks have several spellings in Unicode that look the same. We write the composed one. */
export function toStoredPath(path: string): string {
  return path.normalize('NFC')
}

/** `runs/` and `runs` are the same folder; '' is the whole of it. */
export function toFolder(path: string): string {
  return path.replace(/\/$/, '')
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether `path` is this file or folder, or in it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/** Every script that runs from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** A name inside a sentence. One in Arabic or Hebrew would otherwise take the words beside it along. */
export function inText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name
}

const UNITS = ['kB', 'MB', 'GB', 'TB', 'PB']

/** `0 bytes`, `1 byte`, `999 bytes`, `1.5 MB`, `10 GB`: decimal, as plans and disks count. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  // Rounded down, so that "1 GB used" never means a little less than the limit that refuses it.
  return `${Math.floor(value * 10) / 10} ${UNITS[power - 1]}`
}

/** By the name's ending. A browser must know these to show them in place; everything else is a download. */
const TYPES: Record<string, string> = {
  bmp: 'image/bmp',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  txt: 'text/plain; charset=utf-8',
  log: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

/** The content type that an upload of this name must have. Nothing that a browser would run: HTML and SVG are bytes. */
export function typeOfFile(path: string): string {
  const name = nameOf(path)
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
  return Object.hasOwn(TYPES, ending) ? (TYPES[ending] as string) : 'application/octet-stream'
}

/** The refusal of an upload that is too large. */
export function overLimit({ used, limit, size }: { used: number; limit: number; size: number }): string {
  const left = Math.max(0, limit - used)
  return `This upload has ${sizeText(size)}, ${left ? `more than the ${sizeText(left)}` : 'and nothing is'} left: your files use ${sizeText(used)} of the ${sizeText(limit)} that your plan includes. Delete files, or choose a larger plan.`
}

/** One upload in a single request; larger ones go in parts. */
export const MAX_SINGLE_UPLOAD = 5_000_000_000
export const MAX_FILE_BYTES = 5_000_000_000_000
/** How long a deletion can be undone. */
export const UNDO_DAYS = 7

export const FILES_UNREACHABLE = "Your files can't be reached right now. They are safe. Please try again in a moment."
export const FILE_NOT_FOUND = 'There is no file or folder with this path.'

/** Why nothing can be added to someone's files. */
export const FILES_READ_ONLY = {
  full: 'Your files use all of what your plan includes, so they can only be read. Delete files, or choose a larger plan.',
  ended: 'Your plan has ended, so your files can only be read. Choose a plan to add files and to keep them.',
  none: 'Your account has no plan, so it includes no files. Choose a plan first.',
}
