import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type StackClock = {
  now(): number
  offset(): number
  /** Ends once everyone knows. */
  advance(seconds: number): Promise<void>
  onMove(tell: (offset: number) => Promise<unknown>): void
}

/** The same for the Worker, which asks on each request: reading it in this process took almost a millisecond. */
export const CLOCK = `let offset
export default {
  async fetch(request, env) {
    if (request.method === 'PUT') offset = await request.text()
    if (offset === undefined) {
      const read = await (await env.NODE.fetch('http://clock/')).text()
      // It may have moved in the meantime.
      offset ??= read
    }
    return new Response(offset)
  },
}`

/** The local stack's clock: the real one plus an offset that survives restarts. */
export function openClock(path: string): StackClock {
  mkdirSync(dirname(path), { recursive: true })
  let offset = readOffset(path)
  let next = offset
  const listeners: ((offset: number) => Promise<unknown>)[] = []
  return {
    now: () => Date.now() + offset,
    offset: () => offset,
    onMove: (tell) => void listeners.push(tell),
    async advance(seconds) {
      next += seconds * 1000
      const moved = next
      writeFileSync(`${path}.new`, String(moved))
      renameSync(`${path}.new`, path)
      // The Worker first: a machine ahead of it would report what, by the Worker's clock, can't have happened yet.
      await Promise.all(listeners.map((tell) => tell(moved)))
      if (moved === next) offset = moved
    },
  }
}

function readOffset(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) || 0
  } catch {
    return 0
  }
}
