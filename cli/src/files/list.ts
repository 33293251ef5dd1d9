import { setTimeout as sleep } from 'node:timers/promises'
import { inText, toFolder } from '../../../src/domain/file-names.ts'
import type { FileList } from '../../../src/domain/wire.ts'
import { call } from '../api.ts'
import { EXIT, Failure } from '../failure.ts'
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

/** Whether a file is anywhere below: an empty folder may be listed for itself. */
export async function hasFiles(site: Site, { path, folders, files }: FileList): Promise<boolean> {
  if (files.length) return true
  for (const { name } of folders)
    if (await hasFiles(site, await listFolder(site, `${toFolder(path)}${name}/`))) return true
  return false
}

/**
 * Until nothing there is being deleted: rclone still sees such a file, finds it unchanged, and leaves it out.
 * @throws Failure after 10 minutes
 */
export async function untilDeleted(site: Site, path: string): Promise<void> {
  const below = toFolder(path)
  for (let polls = 0; ; polls++) {
    const { deleting } = await listPage(site, below, null)
    const going = deleting.find((one) => one.path.startsWith(below) || below.startsWith(one.path))
    if (!going) return
    const what = inText(going.path) || 'everything'
    if (polls === MOST_POLLS) throw new Failure(EXIT.timeout, `We are still deleting ${what}. Try again later.`)
    if (polls === 0) note(`Waiting until ${what} is deleted…`)
    await sleep(POLL_MS)
  }
}
