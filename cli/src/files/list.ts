import { toFolder } from '../../../src/domain/file-names.ts'
import type { FileList } from '../../../src/domain/wire.ts'
import { call } from '../api.ts'
import type { Site } from '../site.ts'

/** One folder, all its pages. */
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
