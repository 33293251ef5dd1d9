import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type StackClock = { now(): number; offset(): number; advance(seconds: number): void }

/** The local stack's clock: the real one plus an offset that survives restarts. */
export function openClock(path: string): StackClock {
  mkdirSync(dirname(path), { recursive: true })
  let offset = readOffset(path)
  return {
    now: () => Date.now() + offset,
    offset: () => offset,
    advance(seconds) {
      offset += seconds * 1000
      writeFileSync(`${path}.new`, String(offset))
      renameSync(`${path}.new`, path)
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
