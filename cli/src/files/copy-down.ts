import { mkdirSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inText } from '../../../src/domain/file-names.ts'
import { EXIT, Failure, wrongUsage } from '../failure.ts'
import type { Site } from '../site.ts'
import { hasAny } from './list.ts'
import type { Rclone } from './rclone.ts'

const MOST_NAMED = 5
/** Smaller files come whole, or rclone notices by their checksum that they changed. */
const MIXED_FROM = '5M'

type Down = { verb: 'copyto' | 'copy' | 'sync'; from: string; to: string; flags: string[]; path: string }
/** What it runs, and a folder for its lists. */
type With = { rclone: Rclone; folder: string }

/** @throws Failure if something was replaced meanwhile, of which rclone would keep parts of both */
export async function copyDown(site: Site, down: Down, use: With): Promise<{ copied: number; deleted: number }> {
  const { verb, from, to, flags, path } = down
  const look = () => largeFiles(use.rclone, down)
  const before = await look()
  const times = await timesHere(to, before)
  const { copied, found } = await use.rclone(verb === 'copyto' ? verb : 'copy', from, to, ...flags)
  const now = await timesHere(to, before)
  // What rclone didn't write is as whole as before.
  const written = new Map([...before].filter((_, i) => times[i] === null || now[i] !== times[i]))
  if (copied) await refuseMixed(written, await look(), down, use)
  if (verb !== 'sync') return { copied, deleted: 0 }
  if (!found) throw wouldDeleteAll(`files:${path}`)
  return { copied, deleted: await deleteExtra(site, down, use) }
}

export const wouldDeleteAll = (from: string) =>
  wrongUsage(`${inText(from)} has no files, so --delete would delete everything. Nothing changed.`)

/** Each file's version. */
async function largeFiles(rclone: Rclone, { verb, from, flags }: Down): Promise<Map<string, string>> {
  // rclone takes no filter with a single file.
  const which = verb === 'copyto' ? [] : ['--recursive', '--min-size', MIXED_FROM]
  const format = ['--files-only', '--format', 'tsp', '--time-format', 'max', '--use-server-modtime']
  const { said } = await rclone('lsf', from, ...flags, ...format, ...which)
  const lines = said.split('\n').map((line) => /^([^;]*;[^;]*);(.*)$/.exec(line))
  return new Map(lines.flatMap((line) => (line ? [[line[2] ?? '', line[1] ?? '']] : [])))
}

/** When each file was last written here; null where we can't see that. */
const timesHere = (folder: string, names: Map<string, string>) =>
  Promise.all(
    [...names.keys()].map((name) =>
      stat(join(folder, name)).then(
        ({ ctimeMs }) => ctimeMs,
        () => null,
      ),
    ),
  )

/** Deletes what may be mixed: rclone would take it for the new file, and skip it next time. */
async function refuseMixed(
  before: Map<string, string>,
  after: Map<string, string>,
  { verb, to, flags }: Down,
  use: With,
): Promise<void> {
  const changed = [...before].filter(([name, version]) => (after.get(name) ?? version) !== version)
  if (!changed.length) return
  const names = changed.map(([name]) => name)
  if (verb === 'copyto') await use.rclone('deletefile', to, ...flags)
  else await deleteHere(names, to, flags, use)
  throw new Failure(
    EXIT.refused,
    `Changed while it was copied: ${names.slice(0, MOST_NAMED).map(inText).join(', ')}${names[MOST_NAMED] ? '…' : ''}. Run it again.`,
  )
}

/**
 * rclone reads whatever page a proxy sends as an empty list, or as the end of one. So before we delete anything here, we
 * ask the site whether it still has it.
 */
async function deleteExtra(site: Site, { from, to, flags, path }: Down, use: With): Promise<number> {
  const { extra } = await use.rclone('sync', from, to, ...flags, '--dry-run')
  if (!extra.length) return 0
  if (
    await hasAny(
      site,
      path,
      extra.map((name) => path + name),
    )
  )
    throw new Failure(
      EXIT.refused,
      `rclone can't see all of ${inText(`files:${path}`)}. Nothing was deleted. Try again.`,
    )
  return deleteHere(extra, to, flags, use)
}

/** Also deletes the folders this leaves empty. @returns how many files */
async function deleteHere(names: string[], to: string, flags: string[], { rclone, folder }: With): Promise<number> {
  const [none, list] = [join(folder, 'none'), join(folder, 'list')]
  mkdirSync(none, { recursive: true })
  // Each line is a name, so part of a name with a line break could be another file's.
  writeFileSync(list, names.filter((name) => !/[\n\r]/.test(name)).join('\n'))
  return (await rclone('sync', none, to, ...flags, '--files-from-raw', list)).deleted
}
