import { setTimeout as sleep } from 'node:timers/promises'
import { inText, nameOf, toFolder } from '../../../src/domain/file-names.ts'
import type { FileList } from '../../../src/domain/wire/files.ts'
import { call } from '../api.ts'
import { EXIT, Failure, wrongUsage } from '../failure.ts'
import type { Site } from '../site.ts'
import { note } from '../terminal.ts'

const POLL_MS = 2_000
/** 10 minutes. A folder of a million files takes longer, and one whose deletion fails takes until an operator looks. */
const MOST_POLLS = 300

/** One folder, all of its pages. */
async function listFolder(site: Site, path: string): Promise<FileList> {
  const whole: FileList = await listPage(site, path, null)
  for (let { next } = whole; next !== null; ) {
    const page = await listPage(site, path, next)
    whole.folders.push(...page.folders)
    whole.files.push(...page.files)
    next = page.next
  }
  return whole
}

function listPage(site: Site, path: string, after: string | null): Promise<FileList> {
  const query = { path, ...(after === null ? {} : { after }) }
  return call(site, (client) => client.GET('/api/v1/files', { params: { query } }))
}

/** What a path names, a file before a folder; null if nothing is there. With a slash at its end, it names only a folder. */
export async function findAt(site: Site, path: string): Promise<{ kind: 'file' | 'folder'; list: FileList } | null> {
  if (path !== '' && !path.endsWith('/')) {
    const cut = path.lastIndexOf('/') + 1
    const parent = await listFolder(site, path.slice(0, cut))
    const files = parent.files.filter(({ name }) => name === path.slice(cut))
    if (files.length) return { kind: 'file', list: { ...parent, folders: [], files } }
  }
  const list = await listFolder(site, path)
  return path === '' || list.folders.length || list.files.length ? { kind: 'folder', list } : null
}

/** Whether the site has one of these files, which are below this folder. */
export async function hasAny(site: Site, folder: string, paths: string[]): Promise<boolean> {
  const { folders, files } = await listFolder(site, folder)
  const wanted = new Set(paths)
  if (files.some(({ name }) => wanted.has(folder + name))) return true
  for (const { name } of folders) {
    const inner = `${folder}${name}/`
    const below = paths.filter((path) => path.startsWith(inner))
    if (below.length && (await hasAny(site, inner, below))) return true
  }
  return false
}

export const nothingAt = (path: string) => wrongUsage(`There is no file or folder ${inText(path)}.`)

/**
 * Until nothing there is being deleted: rclone still sees such a file, finds it unchanged, and leaves it out.
 * @returns the first page of that folder
 * @throws Failure after 10 minutes
 */
export async function untilDeleted(site: Site, path: string): Promise<FileList> {
  const below = toFolder(path)
  for (let polls = 0; ; polls++) {
    const list = await listPage(site, below, null)
    const going = list.deleting.find((one) => one.path.startsWith(below) || below.startsWith(one.path))
    if (!going) return list
    const what = inText(going.path) || 'everything'
    if (polls === MOST_POLLS) throw new Failure(EXIT.timeout, `We are still deleting ${what}. Try again later.`)
    if (polls === 0) note(`Waiting until ${what} is deleted…`)
    await sleep(POLL_MS)
  }
}

export const isEmpty = ({ folders, files }: FileList) => folders.length + files.length === 0
const above = (path: string) => path.slice(0, path.lastIndexOf('/', path.length - 2) + 1)

/**
 * A bucket takes any names, but on a disk a name is either a file or a folder, and downloads of the other one fail.
 * @param below the first page of what is below the path
 * @throws Failure
 */
export async function refuseClash(site: Site, path: string, kind: 'file' | 'folder', below: FileList): Promise<void> {
  let folder = kind === 'file' ? above(path) : toFolder(path)
  let list = kind === 'file' ? await listPage(site, folder, null) : below
  // Only the folder above shows that an empty one exists.
  if (kind === 'file' && (!isEmpty(below) || list.folders.some(({ name }) => name === nameOf(path)))) {
    const it = inText(toFolder(path))
    throw wrongUsage(`${it} is a folder. To put the file into it, write ${it}`)
  }
  // Every name above a folder that exists is a folder.
  while (folder !== '' && isEmpty(list)) {
    const name = folder.slice(0, -1)
    folder = above(folder)
    list = await listFolder(site, folder)
    if (list.files.some((file) => file.name === nameOf(name)))
      throw wrongUsage(`${inText(name)} is a file, not a folder. Choose another folder.`)
  }
}
