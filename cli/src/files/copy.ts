import { randomBytes } from 'node:crypto'
import { opendir, realpath, stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { inText, nameOf, toFolder } from '../../../src/domain/file-names.ts'
import type { FileList, FilesAccess } from '../../../src/domain/wire/files.ts'
import { EXIT, Failure, wrongUsage } from '../failure.ts'
import { currentSite, type Site, type SiteOptions } from '../site.ts'
import { note, say, sayJson } from '../terminal.ts'
import { copyDown, wouldDeleteAll } from './copy-down.ts'
import { providerOf, requestCredentials } from './credentials.ts'
import { findAt, isEmpty, nothingAt, refuseClash, untilDeleted } from './list.ts'
import { findRclone, withRclone } from './rclone.ts'

type Options = SiteOptions & { json?: true }

/** How `sync` distinguishes our side from the computer's. */
const REMOTE = 'files:'
const MOST_NAMED = 5
/** What a download leaves behind if it is killed: rclone adds a checksum to the name, then our suffix. */
const KILLED = '*.????????.pg-????.partial'
const IS_KILLED = /\.[^/]{8}\.pg-[^/]{4}\.partial$/u

export async function put(local: string, path: string | undefined, options: Options): Promise<void> {
  const kind = await kindOfLocal(local)
  if (!kind || kind === 'other') throw nothingAt(local)
  const name = basename(resolve(local))
  const to = checkPath(path === undefined ? name : path.endsWith('/') ? path + name : path)
  const site = currentSite(options)
  await refuseClash(site, to, kind, await untilDeleted(site, to))
  // rclone leaves out links.
  const from = await realpath(local)
  const done = await copy(site, kind === 'file' ? 'copyto' : 'copy', { local: from, path: to, way: 'up' })
  report(done, 'Uploaded', options)
}

export async function get(path: string, local: string | undefined, options: Options): Promise<void> {
  const done = await download(currentSite(options), checkPath(path), local ?? safeName(nameOf(path)))
  if (!done) throw nothingAt(path)
  report(done, 'Downloaded', options)
}

/** A file or a folder; null if nothing is there. @throws Failure */
export async function download(site: Site, path: string, target: string): Promise<Done | null> {
  const found = await findAt(site, path)
  if (!found) return null
  const kind = await kindOfLocal(target)
  // rclone would put a file in its place, even of /dev/null.
  if (kind === 'other') throw wrongUsage(`${inText(target)} is neither a file nor a folder.`)
  const isInside = found.kind === 'file' && (kind === 'folder' || /[\\/]$/.test(target))
  const local = isInside ? join(target, safeName(nameOf(path))) : target
  const done = await copy(site, found.kind === 'file' ? 'copyto' : 'copy', { local, path, way: 'down' })
  requireAll(path, found.list)
  return done
}

/** rclone never looks into a folder without a name directly below the one it copies. @throws Failure */
function requireAll(path: string, { folders }: FileList): void {
  if (folders.every(({ name }) => name !== '')) return
  throw new Failure(
    EXIT.refused,
    `Copied everything except ${inText(`${toFolder(path)}/`)}. Get that from the files page.`,
  )
}

export async function sync(from: string, to: string, options: Options & { delete?: true }): Promise<void> {
  const isUp = to.startsWith(REMOTE)
  if (isUp === from.startsWith(REMOTE))
    throw wrongUsage(`Write ${REMOTE} before the folder on the site: sync ./runs ${REMOTE}runs`)
  const [local, named] = isUp ? [from, to] : [to, from]
  const path = checkPath(named.slice(REMOTE.length))
  const site = currentSite(options)
  // Before we look: a source that is emptied during the wait must not empty the site.
  if (isUp) await refuseClash(site, path, 'folder', await untilDeleted(site, path))
  if (isUp && (await kindOfLocal(local)) !== 'folder') throw wrongUsage(`There is no folder ${inText(local)}.`)
  const below = isUp && options.delete ? await listBelow(local) : null
  if (below?.files === 0) throw wouldDeleteAll(local)
  let list: FileList | null = null
  if (!isUp) {
    const found = await findAt(site, toFolder(path))
    if (!found) throw nothingAt(path)
    list = found.list
    if (options.delete && isEmpty(list)) throw wouldDeleteAll(from)
  }
  const way = isUp ? 'up' : 'down'
  const links = below?.links ?? []
  if (links.length)
    note(
      `Links aren't copied, and files of the same names stay on the site: ${links.slice(0, MOST_NAMED).map(inText).join(', ')}${links[MOST_NAMED] ? '…' : ''}`,
    )
  const done = await copy(site, options.delete ? 'sync' : 'copy', { local, path, way, links })
  if (list) requireAll(path, list)
  report(done, isUp ? 'Uploaded' : 'Downloaded', options)
}

/** rclone resolves dots, as URLs do, and takes `a//b` for `a/b`. */
export function checkPath(path: string): string {
  if (/(^|\/)\.\.?(\/|$)/.test(path))
    throw wrongUsage(`${inText(path)} has "." or ".." as a folder or name. rclone can't reach that.`)
  if (/^\/|\/\//.test(path)) throw wrongUsage(`${inText(path)} has a folder without a name. rclone would use another.`)
  return path
}

const kindOfLocal = (path: string) =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other'),
    () => null,
  )

/** How many files are below a folder, and the names of its links. */
async function listBelow(folder: string, path = '', found = { files: 0, links: [] as string[] }) {
  for await (const entry of await opendir(join(folder, path))) {
    const name = path + entry.name
    if (entry.isSymbolicLink()) found.links.push(name)
    else if (entry.isDirectory()) await listBelow(folder, `${name}/`, found)
    else if (entry.isFile() && !IS_KILLED.test(name)) found.files++
  }
  return found
}

/** Where it goes by default; '' is this folder. On Windows, a key's name may lead out of the folder. */
function safeName(name: string): string {
  if (!name.includes(sep)) return name || '.'
  throw wrongUsage(`This computer can't name a file "${inText(name)}". Name it: files get <path> <local>`)
}

type Done = { copied: number; deleted: number }
type Copy = { local: string; path: string; way: 'up' | 'down'; links?: string[] }

/** `copyto` takes a file, `copy` takes a folder's contents, and `sync` also deletes. @throws Failure */
async function copy(
  site: Site,
  verb: 'copyto' | 'copy' | 'sync',
  { local, path, way, links = [] }: Copy,
): Promise<Done> {
  const program = await findRclone()
  const access = await requestCredentials(site, way === 'up' ? 'write' : 'read')
  const here = resolve(local)
  // A file with the folder's name isn't that folder.
  const named = verb === 'copyto' ? path : toFolder(path)
  const there = `:s3:${access.bucket}/${access.prefix}${named}`
  // A file's own remote is its folder.
  const remote = there.slice(0, there.lastIndexOf('/') + 1)
  const flags = flagsFor(access)
  const left = verb === 'copyto' ? [] : ['--exclude', KILLED]
  return withRclone({ program, site, access, remote }, (rclone, folder) =>
    way === 'up'
      ? rclone(verb, here, there, ...flags, ...left, ...links.flatMap(leaving))
      : copyDown(site, { verb, from: there, to: here, flags, path: named }, { rclone, folder }),
  )
}

/** Don't delete anything of this name: a link stands for it. */
const leaving = (name: string) => ['--exclude', `/${name.replace(/[\\*?[\]{}]/g, '\\$&')}{,/**}`]

const flagsFor = (access: FilesAccess) => [
  ...['--s3-provider', providerOf(access), '--s3-env-auth', '--s3-no-check-bucket'],
  ...['--s3-endpoint', access.endpoint, '--s3-region', access.region],
  // A name that XML can't hold comes encoded.
  ...['--s3-list-version', '2', '--s3-list-url-encode=true', '--fast-list'],
  // At most 256 MB of memory.
  ...['--s3-chunk-size', '8M', '--transfers', '8', '--checkers', '16'],
  // Equal bytes need no new time, which a bucket sets only by a copy.
  ...['--no-update-modtime', '--skip-links', '--config', ''],
  // Two at once would write into one file, and the first to end would name it finished.
  ...['--partial-suffix', `.pg-${randomBytes(2).toString('hex')}.partial`],
]

function report({ copied, deleted }: Done, verb: string, { json }: Options): void {
  const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`
  if (json) sayJson({ copied, deleted })
  else say(`${verb} ${files(copied)}${deleted ? `, ${files(deleted)} deleted` : ''}.`)
}
