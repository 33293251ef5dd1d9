import type { FileList, FileUpload, PartLinks } from '../../../src/domain/wire.ts'
import { call, jsonOf, reach, refusalOf } from '../api.ts'
import type { Site } from '../site.ts'

/** A file in someone's files. `path` counts from the listed folder. */
export type RemoteFile = { path: string; size: number; modifiedAt: number }

/** One folder, all its pages. */
export async function listFolder(site: Site, path: string): Promise<FileList> {
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

/** Everything below a folder. */
export async function listBelow(site: Site, folder: string, below = ''): Promise<RemoteFile[]> {
  const { files, folders } = await listFolder(site, joined(folder, below))
  const found = files.map(({ name, size, modified_at }) => ({
    path: joined(below, name),
    size,
    modifiedAt: Date.parse(modified_at),
  }))
  for (const { name } of folders) found.push(...(await listBelow(site, folder, joined(below, name))))
  return found
}

/** One file; null if there is none. */
export async function findFile(site: Site, path: string): Promise<RemoteFile | null> {
  const cut = path.lastIndexOf('/')
  const { files } = await listFolder(site, path.slice(0, Math.max(0, cut)))
  const found = files.find(({ name }) => name === path.slice(cut + 1))
  return found ? { path, size: found.size, modifiedAt: Date.parse(found.modified_at) } : null
}

export const requestUpload = async (site: Site, body: { path: string; size: number }): Promise<FileUpload> =>
  (await call(site, (client) => client.POST('/api/v1/files', { body }))).upload

/** Continues the upload of the same file if one is open. */
export const beginParts = async (site: Site, body: { path: string; size: number; version: string }) =>
  (await call(site, (client) => client.POST('/api/v1/files/uploads', { body }))).upload

export const linkParts = (site: Site, id: string, parts: number[]): Promise<PartLinks> =>
  call(site, (client) => client.POST('/api/v1/files/uploads/{id}/parts', { params: { path: { id } }, body: { parts } }))

export const completeParts = (site: Site, id: string) =>
  call(site, (client) => client.POST('/api/v1/files/uploads/{id}/complete', { params: { path: { id } } }))

export const remove = (site: Site, path: string) =>
  call(site, (client) => client.DELETE('/api/v1/files', { params: { query: { path } } }))

export const requestCredentials = async (site: Site, mode: 'read' | 'write') =>
  (await call(site, (client) => client.POST('/api/v1/files/credentials', { body: { mode } }))).credentials

/** A link to a file's bytes, for a minute. @throws Failure */
export async function linkTo(site: Site, path: string): Promise<string> {
  const answer = await reach(site, `/api/v1/files/content?path=${encodeURIComponent(path)}`, {
    headers: { Authorization: `Bearer ${site.token}` },
  })
  const link = answer.headers.get('Location')
  if (answer.status !== 302 || !link) throw refusalOf(site, answer, jsonOf(answer.text))
  return link
}

export const joined = (...parts: string[]): string => parts.filter(Boolean).join('/')
