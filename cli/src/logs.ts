import { setTimeout as sleep } from 'node:timers/promises'
import { terminalText } from '../../src/domain/ansi.ts'
import type { LogLine } from '../../src/domain/run-log.ts'
import { isLive } from '../../src/domain/server.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { call, listServers, type Patience } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { isTerminal, paint, say } from './terminal.ts'

/** As often as a machine speaks while someone is listening. */
const EVERY_MS = 1_000

/**
 * Prints a server's log: the named one's, the running one's, or the last one's.
 * @param wanted its ID or its name
 */
export async function logs(
  wanted: string | undefined,
  options: SiteOptions & { follow?: true; json?: true },
): Promise<void> {
  const site = currentSite(options)
  const { id } = chosen(await listServers(site), wanted)
  let after = 0
  for (;;) {
    const { lines, next, complete } = await readLog(site, id, after)
    for (const line of lines) say(options.json ? JSON.stringify(line) : textOf(line))
    after = next
    if (complete || (!lines.length && !options.follow)) return
    if (!lines.length) await sleep(EVERY_MS)
  }
}

/** @param servers newest first */
function chosen(servers: Server[], wanted: string | undefined): Server {
  const found =
    wanted === undefined
      ? (servers.find(isLive) ?? servers[0])
      : servers.find(({ id, name }) => id === wanted || name === wanted)
  if (found) return found
  if (wanted === undefined) throw new Failure(EXIT.refused, "You haven't started a server yet.")
  throw new Failure(EXIT.refused, `None of your latest servers is named ${wanted}. List them with: proving-ground runs`)
}

export const readLog = (site: Site, id: string, after: number, patience?: Patience) =>
  call(
    site,
    (client) => client.GET('/api/v1/servers/{id}/log', { params: { path: { id }, query: { after } } }),
    patience,
  )

/** @param stream where it will be written */
export function textOf({ source, text }: LogLine, stream: { isTTY?: boolean } = process.stdout): string {
  const line = terminalText(text, isTerminal(stream) && !process.env.NO_COLOR)
  return source === 'machine' ? paint(`# ${line}`, 'gray', stream) : line
}
