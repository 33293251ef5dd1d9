import { MINUTE_MS } from './instant.ts'
import type { Server } from './wire/fleet.ts'

/** The port where a server's own page answers. */
export const SERVER_WEB_PORT = 5173
/** A start gives up if it is not running by then. */
export const START_DEADLINE_MS = 10 * MINUTE_MS
/** We stop a server that hasn't answered this long after its container started, or after `running` if its machine says nothing. */
export const ANSWER_DEADLINE_MS = 10 * MINUTE_MS

/** How long before the end that its user set we warn, if they set it earlier than that. */
export const ENDING_MS = 10 * MINUTE_MS

/** The address of a live server's own page. */
export function webAddress({ door_url, ip_address }: Pick<Server, 'door_url' | 'ip_address'>): string {
  return door_url ?? `http://${ip_address}:${SERVER_WEB_PORT}`
}

export type ServerStatus = 'running' | 'provisioning' | 'stopping' | 'stopped' | 'error'
export type BadgeColor = 'green' | 'gray' | 'yellow' | 'red' | 'dark'

/** Derived: running when active, provisioning when pending, otherwise stopped; a stop in progress takes precedence. */
export function serverStatus(server: Pick<Server, 'active' | 'pending' | 'stopping' | 'error_message'>): ServerStatus {
  if ((server.active || server.pending) && server.stopping) return 'stopping'
  if (server.active) return 'running'
  if (server.pending) return 'provisioning'
  return server.error_message ? 'error' : 'stopped'
}

export function serverStatusColor(status: ServerStatus): BadgeColor {
  return { running: 'green', stopped: 'gray', stopping: 'yellow', provisioning: 'yellow', error: 'red' }[
    status
  ] as BadgeColor
}

/** Why a run without an error ended, in a few words; null while it is live. */
export function endedBecause({
  ended_because,
  exit_code,
  startedAt,
}: Pick<Server, 'ended_because' | 'exit_code' | 'startedAt'>): string | null {
  if (ended_because === 'exited') return `Its program ended with code ${exit_code}`
  if (ended_because === 'trial_over') return 'Free minutes used up'
  if (ended_because === 'time_up') return 'Ended as scheduled'
  if (ended_because === 'idle') return 'It was idle'
  if (ended_because === 'budget') return 'Your budget was used up'
  if (ended_because === 'plan') return 'Your plan no longer includes it'
  if (ended_because !== 'you') return null
  return startedAt ? 'Ended by you' : 'Cancelled by you'
}

export function isLive(server: Pick<Server, 'active' | 'pending'>): boolean {
  return server.active || server.pending
}

/** Any live run can be stopped, even one that is still starting, unless a stop was already requested. */
export function canStop(server: Pick<Server, 'active' | 'pending' | 'stopping'>): boolean {
  return isLive(server) && !server.stopping
}

/** Uptime as d/h/m/s without leading zero parts: `2d 3h 0m 5s`, `5s`. */
export function formatUptime(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds))
  const part = (unit: number, sign: string, rolls = Number.POSITIVE_INFINITY) =>
    s < unit ? '' : `${Math.floor(s / unit) % rolls}${sign} `
  return `${part(86_400, 'd')}${part(3600, 'h', 24)}${part(60, 'm', 60)}${s % 60}s`
}

/** Whether the server's own end is near, wasn't when it started, and comes before that of its trial. */
export function isEnding(
  { ends_at, requested_at, stopping }: Pick<Server, 'ends_at' | 'requested_at' | 'stopping'>,
  now: number,
  latest: number | null,
): boolean {
  const end = Date.parse(ends_at ?? '')
  const warnAt = end - ENDING_MS
  const isFirst = latest === null || end < latest
  return !stopping && now >= warnAt && warnAt > Date.parse(requested_at) && isFirst
}
