import { MINUTE_MS, SECOND_MS } from './instant.ts'
import { ANSWER_DEADLINE_MS, formatUptime } from './server.ts'

/** How far a machine is with its image, as it reports. Times are ours, in ms since 1970. */
export type Pull = {
  startedAt: number
  /** Its last word. */
  heardAt: number
  percent: number
  /** When it reached that percentage. */
  percentAt: number
  /** What it has moved, downloaded and unpacked. */
  bytes: number
}

/** An image always gets ten minutes, and up to thirty while it moves fast enough. */
const ANY_PULL_MS = 10 * MINUTE_MS
export const LONGEST_PULL_MS = 30 * MINUTE_MS
/** From `running` to the first answer. */
export const LONGEST_START_MS = LONGEST_PULL_MS + ANSWER_DEADLINE_MS
const LEAST_BYTES_PER_SECOND = 1_000_000

/** Whether we give up on a pull. The machine itself notices when nothing moves. */
export function isPullTooSlow({ startedAt, heardAt, bytes }: Pull, now: number): boolean {
  const ms = heardAt - startedAt
  const isSlow = bytes < (ms / SECOND_MS) * LEAST_BYTES_PER_SECOND
  return now - startedAt >= LONGEST_PULL_MS || (ms >= ANY_PULL_MS && isSlow)
}

/** `Loading your image, 42%, about 1m 40s…`. The time follows once its rate is known. */
export function pullProgress({ startedAt, percent, percentAt }: Pull): string {
  const ms = percentAt - startedAt
  const isKnown = percent >= 2 && ms >= 5 * SECOND_MS
  const left = Math.max(10, Math.round((ms * (100 - percent)) / percent / 10_000) * 10)
  return `Loading your image, ${percent}%${isKnown ? `, about ${formatUptime(left)}` : ''}…`
}
