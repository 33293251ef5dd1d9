/** Files and folders in someone's private folder, which their machines see as /data. */

import { inText, nameOf } from './file-names.ts'

/** In UTF-8. With our own prefix in front, a key stays below what buckets allow. */
const MAX_PATH_BYTES = 512
const MAX_FOLDERS = 32
const MAX_KEY_BYTES = 1024
/** Composing letters makes them at most three times shorter. */
const MAX_APART_BYTES = 3 * MAX_PATH_BYTES

/** These change the direction of the text around them, so `exe.png` may read as `gnp.exe`. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is the rule
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

const TOO_LONG = `This path is longer than ${MAX_PATH_BYTES} bytes. Use shorter names.`

/** Why no file can have this path; null if one can. Programs may write any key, even with names that we would refuse. */
export function faultOfPath(path: string): string | null {
  if (isLonger(path, MAX_KEY_BYTES) || !path.isWellFormed())
    return `This isn't a valid path. A path is UTF-8 of at most ${MAX_KEY_BYTES} bytes.`
  return null
}

/**
 * A path that we write to, in its one spelling, or why it's refused: it must not lead out of the folder, look like
 * another name, or get lost on the way to a disk.
 */
export function toNewPath(given: string): { path: string; fault: string | null } {
  // Check first: composing tens of thousands of marks takes a second.
  if (isLonger(given, MAX_APART_BYTES)) return { path: given, fault: TOO_LONG }
  const path = given.normalize('NFC')
  return { path, fault: faultOfNewPath(path) }
}

function faultOfNewPath(path: string): string | null {
  if (isLonger(path, MAX_PATH_BYTES)) return TOO_LONG
  if (path === '') return 'Name a file, such as "runs/flight.csv".'
  if (path.startsWith('/')) return 'A path doesn\'t begin with a slash. Write "runs/flight.csv", for instance.'
  if (CONTROL.test(path) || !path.isWellFormed()) return "A path can't have control characters."
  const names = path.split('/')
  if (names.some((name) => name === '..' || name === '.')) return 'A path can\'t have "." or ".." as a folder.'
  if (names.includes(''))
    return 'Every folder in a path needs a name. This path has two slashes in a row or ends in one.'
  if (names.length > MAX_FOLDERS + 1) return `A path can have at most ${MAX_FOLDERS} folders. This one has more.`
  if (REORDERING.test(path)) return "A path can't have characters that change the direction of the text around them."
  return null
}

function isLonger(text: string, bytes: number): boolean {
  return text.length > bytes || new TextEncoder().encode(text).length > bytes
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

/** By file extension. A browser must know these to show them in place; everything else is a download. */
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

/** The content type for uploads of this name. Nothing that a browser would run: HTML and SVG count as bytes. */
export function typeOfFile(path: string): string {
  const name = nameOf(path)
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
  return Object.hasOwn(TYPES, ending) ? (TYPES[ending] as string) : 'application/octet-stream'
}

/** The refusal of an upload that is too large. */
export function overLimit({ used, limit, size }: { used: number; limit: number; size: number }): string {
  const left = Math.max(0, limit - used)
  return `This upload is ${sizeText(size)}, ${left ? `more than the ${sizeText(left)} you have left` : 'and you have no space left'}: your files use ${sizeText(used)} of the ${sizeText(limit)} in your plan. Delete files, or choose a larger plan.`
}

/** The refusal of an upload whose path has changed since it began. */
export function changedMeanwhile(path: string): string {
  return `${inText(path)} was changed or deleted after this upload began, so we didn't save your file. Upload it again to save it.`
}

/** One upload in a single request; larger ones go in parts. */
export const MAX_SINGLE_UPLOAD = 5_000_000_000
export const MAX_FILE_BYTES = 5_000_000_000_000

export const FILES_UNREACHABLE = "We can't reach your files right now. They're safe. Please try again in a moment."
export const FILE_NOT_FOUND = "No file has this path. A folder's path ends in a slash."
export const FOLDER_NOT_FOUND = 'No folder has this path.'

/** Why nothing can be added to someone's files. */
export const FILES_READ_ONLY = {
  full: 'Your files and uploads use everything your plan includes, so your files are read-only. Delete some, or choose a larger plan.',
  unpaid:
    'Your plan is unpaid, so your files are read-only. Pay the open invoice to add files and to keep what your plan includes.',
  ended:
    'Your plan has ended, so your files are read-only. To keep them and add more, choose a plan that includes files.',
  none: "Your account has no plan, so it can't store files. Choose a plan first.",
  suspended: 'Your account is suspended until you pay the overdue invoice. Until then, your files are read-only.',
  held: 'We suspended your account, so your files are read-only. Contact us to find out why.',
}
export type FilesReadOnly = keyof typeof FILES_READ_ONLY
