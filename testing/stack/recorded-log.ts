import { type Log, openLog } from '../../src/server/settings/log.ts'

export type Line = { event: string; error?: { message: string; code?: string; requestId?: string }[] } & Record<
  string,
  unknown
>

/** A log that keeps its lines, as an operator would read them. */
export function recordLog(): { log: Log; takeLines: () => Line[] } {
  const written: string[] = []
  return {
    log: openLog((line) => void written.push(line)),
    /** The lines since the last call. */
    takeLines: () => written.splice(0).map((line) => JSON.parse(line) as Line),
  }
}

/** What happened, with the matter or the innermost code: `watch_failed RequestLimitExceeded`. */
export function inBrief(lines: Line[]): string[] {
  return lines.map(({ event, matter, error }) =>
    [event, matter ?? error?.findLast(({ code }) => code)?.code].filter(Boolean).join(' '),
  )
}
