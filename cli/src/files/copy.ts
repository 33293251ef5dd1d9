import { opendir, stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { inText, nameOf, toFolder } from '../../../src/domain/file-names.ts'
import type { FileList, FilesAccess } from '../../../src/domain/wire.ts'
import { EXIT, Failure } from '../failure.ts'
import { currentSite, type Site, type SiteOptions } from '../site.ts'
import { say, sayJson } from '../terminal.ts'
import { providerOf, requestCredentials } from './credentials.ts'
import { findAt, hasFiles } from './list.ts'
import { type Done, findRclone, runRclone } from './rclone.ts'

type Options = SiteOptions & { json?: true }

/** How `sync` tells our side from the computer's. */
const REMOTE = 'files:'

export async function put(local: string, path: string | undefined, options: Options): Promise<void> {
  const kind = await kindOfLocal(local)
  if (!kind) throw nothingAt(local)
  const name = basename(resolve(local))
  const to = path === undefined ? name : path.endsWith('/') ? path + name : path
  const site = currentSite(options)
  const done = await copy(site, kind === 'file' ? 'copyto' : 'copy', { local, path: checkPath(to), way: 'up' })
  report(done, 'Uploaded', options)
}

export async function get(path: string, local: string | undefined, options: Options): Promise<void> {
  const done = await download(currentSite(options), checkPath(path), local ?? safeName(nameOf(path)))
  if (!done) throw nothingAt(path)
  report(done, 'Downloaded', options)
}

/** A file or a folder; null if there is none. @throws Failure */
export async function download(site: Site, path: string, target: string): Promise<Done | null> {
  const found = await findAt(site, path)
  if (!found) return null
  const isInside = found.kind === 'file' && ((await kindOfLocal(target)) === 'folder' || /[\\/]$/.test(target))
  const local = isInside ? join(target, safeName(nameOf(path))) : target
  const done = await copy(site, found.kind === 'file' ? 'copyto' : 'copy', { local, path, way: 'down' })
  requireAll(path, found.list)
  return done
}

/** rclone never looks into a folder without a name right below the one it copies. @throws Failure */
function requireAll(path: string, { folders }: FileList): void {
  if (folders.every(({ name }) => name !== '')) return
  throw new Failure(EXIT.refused, `All came but what is in ${inText(`${toFolder(path)}/`)}: the files page has it.`)
}

export async function sync(from: string, to: string, options: Options & { delete?: true }): Promise<void> {
  const isUp = to.startsWith(REMOTE)
  if (isUp === from.startsWith(REMOTE))
    throw new Failure(EXIT.usage, `Write ${REMOTE} before the folder on the site: sync ./runs ${REMOTE}runs`)
  const [local, named] = isUp ? [from, to] : [to, from]
  const path = checkPath(named.slice(REMOTE.length))
  if (isUp && (await kindOfLocal(local)) !== 'folder')
    throw new Failure(EXIT.usage, `There is no folder ${inText(local)}.`)
  if (isUp && options.delete && !(await hasLocalFiles(local))) throw wouldDeleteAll(local)
  const site = currentSite(options)
  let list: FileList | null = null
  if (!isUp) {
    const found = await findAt(site, toFolder(path))
    if (!found) throw nothingAt(path)
    if (options.delete && !(await hasFiles(site, found.list))) throw wouldDeleteAll(from)
    list = found.list
  }
  const way = isUp ? 'up' : 'down'
  const done = await copy(site, options.delete ? 'sync' : 'copy', { local, path, way })
  if (list) requireAll(path, list)
  report(done, isUp ? 'Uploaded' : 'Downloaded', options)
}

/** rclone resolves it, and so do URLs. */
export function checkPath(path: string): string {
  if (!/(^|\/)\.\.?(\/|$)/.test(path)) return path
  throw new Failure(EXIT.usage, `${inText(path)} has "." or ".." as a folder or name. rclone can't reach that.`)
}

const nothingAt = (path: string) => new Failure(EXIT.usage, `There is no file or folder ${inText(path)}.`)

const wouldDeleteAll = (from: string) =>
  new Failure(
    EXIT.usage,
    `There are no files in ${inText(from)}, so --delete would delete everything. Nothing changed.`,
  )

const kindOfLocal = (path: string) =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : found.isFile() ? 'file' : null),
    () => null,
  )

async function hasLocalFiles(folder: string): Promise<boolean> {
  for await (const entry of await opendir(folder))
    if (entry.isFile() || (entry.isDirectory() && (await hasLocalFiles(join(folder, entry.name))))) return true
  return false
}

/** Where it goes by default. On Windows, a key's name may lead out of the folder. '' is this folder. */
function safeName(name: string): string {
  if (!name.includes(sep)) return name || '.'
  throw new Failure(EXIT.usage, `This computer can't name a file "${inText(name)}". Name it: files get <path> <local>`)
}

type Copy = { local: string; path: string; way: 'up' | 'down' }

/** `copyto` takes a file, `copy` what is in a folder, and `sync` deletes as well. @throws Failure */
async function copy(site: Site, verb: 'copyto' | 'copy' | 'sync', { local, path, way }: Copy): Promise<Done> {
  const rclone = await findRclone()
  const mode = way === 'up' ? 'write' : 'read'
  const access = await requestCredentials(site, mode)
  const here = resolve(local)
  // A file of a folder's name is another thing.
  const there = `:s3:${access.bucket}/${access.prefix}${verb === 'copyto' ? path : toFolder(path)}`
  const [from, to] = way === 'up' ? [here, there] : [there, here]
  return runRclone(rclone, site, mode, [verb, from, to, ...flagsFor(access)])
}

const flagsFor = (access: FilesAccess) => [
  ...['--s3-provider', providerOf(access), '--s3-env-auth', '--s3-no-check-bucket'],
  ...['--s3-endpoint', access.endpoint, '--s3-region', access.region],
  // A name that XML can't hold comes encoded.
  ...['--s3-list-version', '2', '--s3-list-url-encode=true', '--fast-list'],
  // At most 256 MB of memory.
  ...['--s3-chunk-size', '8M', '--transfers', '8', '--checkers', '16'],
  // Equal bytes need no new time, which a bucket sets only by a copy.
  ...['--no-update-modtime', '--skip-links'],
]

function report({ copied, deleted }: Done, verb: string, { json }: Options): void {
  const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`
  if (json) sayJson({ copied, deleted })
  else say(`${verb} ${files(copied)}${deleted ? `, ${files(deleted)} deleted` : ''}.`)
}
