import { HOUR_MS, MINUTE_MS } from './instant.ts'
import { ENDING_MS } from './server.ts'

/** How long before the end of a trial we warn. A run that starts with less time left gets no warning. */
export const TRIAL_WARN_MS = 5 * MINUTE_MS

/** How long a server on a paid plan runs by default, in seconds, as the questions on /pricing say. */
export const FIRST_STOP_AFTER = 4 * 3600

/** When a live run ends, as the database has it. */
export type LiveEnd = {
  /** The end that its user set. */
  endsAt: number | null
  /** The end of its trial. */
  mustStopAt: number | null
  /** When `endsAt` was set, or the run requested. */
  setAt: number
  /** A smaller plan set `endsAt`: it can't move. */
  planEnds: boolean | 0 | 1
}

/**
 * What an open page says before a run ends.
 * @returns null if it has no end, or one that was too near for a warning when it was set. `from` is when to say it,
 * `next` the end after one more click: an hour later, or the trial's last minute; null if it can't move
 */
export function endNotice({ endsAt, mustStopAt, setAt, planEnds }: LiveEnd) {
  const [own, trial] = [endsAt ?? Infinity, mustStopAt ?? Infinity]
  const end = Math.min(own, trial)
  const isOwn = own < trial
  const from = end - (isOwn ? ENDING_MS : TRIAL_WARN_MS)
  if (end === Infinity || (isOwn && from <= setAt)) return null
  const next = isOwn && !planEnds ? Math.min(end + HOUR_MS, trial) : null
  return { end, from, next, isOwn }
}

/** Added where we say that a server's disk is erased. `filesStay`: what it saves in /data outlasts it. */
export const keepText = (filesStay: boolean) =>
  filesStay
    ? 'Files in /data stay. First download anything else you want to keep.'
    : 'First download anything you want to keep.'

/** `1 hour`, `7 minutes`: what an extension adds, to the minute. */
export function addedText(ms: number): string {
  if (ms >= HOUR_MS) return 'an hour'
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS))
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
