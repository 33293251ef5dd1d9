import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { inText, nameOf } from '../../../src/domain/file-names.ts'
import { sizeText } from '../../../src/domain/files.ts'
import { instantText } from '../../../src/domain/instant.ts'
import { EXIT, Failure } from '../failure.ts'
import { currentSite, type SiteOptions } from '../site.ts'
import { note, say, sayJson, table } from '../terminal.ts'
import { isFolder, placeIn } from './local.ts'
import { findFile, listFolder, remove, requestCredentials } from './remote.ts'
import { type Synced, syncDown, syncUp, together } from './sync.ts'
import { getFile, putFile } from './transfer.ts'

type Options = SiteOptions & { json?: true }

/** How `sync` tells our side from the computer's. */
const REMOTE = 'files:'

export async function ls(path: string, options: Options): Promise<void> {
  const list = await listFolder(currentSite(options), path)
  if (options.json) return sayJson(list)
  const { used_bytes, limit_bytes } = list
  // A script that reads names gets them as they are.
  const shown = process.stdout.isTTY ? inText : (name: string) => name
  const rows = [
    ...list.folders.map(({ name }) => [shown(`${name}/`), '', '']),
    ...list.files.map((file) => [shown(file.name), sizeText(file.size), instantText(file.modified_at, true)]),
  ]
  if (rows.length) say(table(['NAME', 'SIZE', 'MODIFIED'], rows))
  else note('There is nothing here.')
  note(`You use ${sizeText(used_bytes)}${limit_bytes === null ? '' : ` of ${sizeText(limit_bytes)}`}.`)
}

export async function put(local: string, path: string | undefined, options: Options): Promise<void> {
  const site = currentSite(options)
  const to = path === undefined ? basename(local) : path.endsWith('/') ? path + basename(local) : path
  if (await isFolder(local)) return report(await syncUp(site, local, to, false), 'Uploaded', options)
  const size = await sizeOfLocal(local)
  await together([{ path: to, size }], (_, onBytes) => putFile(site, local, to, onBytes))
  report({ copied: 1, same: 0, deleted: 0 }, 'Uploaded', options)
}

async function sizeOfLocal(local: string): Promise<number> {
  const found = await stat(local).catch(() => null)
  if (!found?.isFile()) throw new Failure(EXIT.usage, `There is no file or folder ${inText(local)}.`)
  return found.size
}

/** A shell completes a folder's name with a slash, which is no part of it. */
const withoutSlash = (path: string) => path.replace(/\/+$/, '')

export async function get(named: string, local: string | undefined, options: Options): Promise<void> {
  const site = currentSite(options)
  const path = withoutSlash(named)
  const from = await findFile(site, path)
  if (from === null) {
    const folder = local ?? placeIn('.', nameOf(path))
    const done = await syncDown(site, path, folder, false)
    if (done.copied + done.same === 0) throw new Failure(EXIT.refused, `There is no file or folder ${inText(path)}.`)
    return report(done, 'Downloaded', options)
  }
  const target = local === undefined ? placeIn('.', nameOf(path)) : local
  const to = (await isFolder(target)) ? join(target, nameOf(path)) : target
  await together([from], (_, onBytes) => getFile(site, { path, from, to, onBytes }))
  report({ copied: 1, same: 0, deleted: 0 }, 'Downloaded', options)
}

export async function rm(path: string, options: Options): Promise<void> {
  const answer = await remove(currentSite(options), path)
  if (options.json) return sayJson(answer)
  say(answer.message)
}

export async function sync(from: string, to: string, options: Options & { delete?: true }): Promise<void> {
  const site = currentSite(options)
  const mirror = options.delete ?? false
  const isUp = to.startsWith(REMOTE)
  if (isUp === from.startsWith(REMOTE))
    throw new Failure(EXIT.usage, `Write ${REMOTE} before the folder on the site: sync ./runs ${REMOTE}runs`)
  const path = withoutSlash((isUp ? to : from).slice(REMOTE.length))
  if (isUp && !(await isFolder(from))) throw new Failure(EXIT.usage, `There is no folder ${inText(from)}.`)
  const done = isUp ? await syncUp(site, from, path, mirror) : await syncDown(site, path, to, mirror)
  report(done, isUp ? 'Uploaded' : 'Downloaded', options)
}

function report({ copied, same, deleted }: Synced, verb: string, options: Options): void {
  const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`
  const more = [...(same ? [`${files(same)} unchanged`] : []), ...(deleted ? [`${files(deleted)} deleted`] : [])]
  if (options.json) sayJson({ copied, same, deleted })
  else say(`${[`${verb} ${files(copied)}`, ...more].join(', ')}.`)
}

export const FORMATS = ['env', 'rclone', 'aws', 'json'] as const

export async function credentials(options: Options & { read?: true; format: (typeof FORMATS)[number] }): Promise<void> {
  const given = await requestCredentials(currentSite(options), options.read ? 'read' : 'write')
  if (options.format === 'json' || options.json) return sayJson(given)
  const { access_key_id, secret_access_key, session_token, endpoint, region, bucket, prefix } = given
  const keys = { access_key_id, secret_access_key, session_token }
  if (options.format === 'env')
    say(
      [
        ...Object.entries(keys).map(([name, value]) => `export AWS_${name.toUpperCase()}='${value}'`),
        `export AWS_REGION='${region}'`,
        `export AWS_ENDPOINT_URL_S3='${endpoint}'`,
        `export FILES='s3://${bucket}/${prefix}'`,
      ].join('\n'),
    )
  else if (options.format === 'aws')
    say(
      [
        '[profile proving-ground]',
        ...Object.entries(keys).map(([name, value]) => `aws_${name} = ${value}`),
        `region = ${region}`,
        `endpoint_url = ${endpoint}`,
      ].join('\n'),
    )
  else
    say(
      [
        '[proving-ground-bucket]',
        'type = s3',
        'provider = Other',
        ...Object.entries(keys).map(([name, value]) => `${name} = ${value}`),
        `region = ${region}`,
        `endpoint = ${endpoint}`,
        'no_check_bucket = true',
        '',
        '[files]',
        'type = alias',
        `remote = proving-ground-bucket:${bucket}/${prefix.replace(/\/$/, '')}`,
      ].join('\n'),
    )
  note(`They work until ${instantText(given.expires_at, true, 'time')}, for your files only.`)
}
