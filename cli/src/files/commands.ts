import { inText } from '../../../src/domain/file-names.ts'
import { sizeText } from '../../../src/domain/files.ts'
import { call } from '../api.ts'
import { currentSite, type SiteOptions } from '../site.ts'
import { note, say, sayJson, table, timeText } from '../terminal.ts'
import { findAt, nothingAt } from './list.ts'

type Options = SiteOptions & { json?: true }

export async function ls(path: string, options: Options): Promise<void> {
  const found = await findAt(currentSite(options), path)
  if (!found) throw nothingAt(path)
  const { list } = found
  if (options.json) return sayJson(list)
  const { used_bytes, limit_bytes } = list
  // A script that reads names gets them unchanged.
  const shown = process.stdout.isTTY ? inText : (name: string) => name
  const rows = [
    ...list.folders.map(({ name }) => [shown(`${name}/`), '', '']),
    ...list.files.map((file) => [shown(file.name), sizeText(file.size), timeText(file.modified_at)]),
  ]
  if (rows.length) say(table(['NAME', 'SIZE', 'MODIFIED'], rows))
  else note('No files here.')
  note(`You use ${sizeText(used_bytes)}${limit_bytes === null ? '' : ` of ${sizeText(limit_bytes)}`}.`)
}

export async function rm(path: string, options: Options): Promise<void> {
  const answer = await call(currentSite(options), (client) =>
    client.DELETE('/api/v1/files', { params: { query: { path } } }),
  )
  if (options.json) return sayJson(answer)
  say(answer.message)
}
