import type { Job, LinePlace, Server } from './wire/fleet.ts'

/** The part of the ActionCable wire protocol that this product speaks. */
export const SUB_PROTOCOL = 'actioncable-v1-json'
/** Our pages send this every 3 s. The answer comes without waking the object that holds the socket. */
export const KEEPALIVE = '{"command":"ping"}'
export const KEEPALIVE_ANSWER = '{"type":"ping"}'
export const PING_EVERY_MS = 3_000

/** Rails' reasons, and one of ours: the user opened so many sockets that we closed the oldest. */
export type DisconnectReason = 'unauthorized' | 'remote' | 'server_restart' | 'invalid_request' | 'too_many_sockets'

export const welcomeFrame = () => JSON.stringify({ type: 'welcome' })
/** Rails sends seconds since 1970. */
export const pingFrame = (now: number) => JSON.stringify({ type: 'ping', message: Math.floor(now / 1000) })
export const confirmFrame = (identifier: string) => JSON.stringify({ identifier, type: 'confirm_subscription' })
export const rejectFrame = (identifier: string) => JSON.stringify({ identifier, type: 'reject_subscription' })
export const disconnectFrame = (reason: DisconnectReason, reconnect = false) =>
  JSON.stringify({ type: 'disconnect', reason, reconnect })
export const jobFrame = (identifier: string, job: Job) =>
  JSON.stringify({ identifier, message: { event: 'job.updated', job } })

/** Says only that something changed: the summary has it. */
export const accountFrame = (identifier: string) =>
  JSON.stringify({ identifier, message: { event: 'account.updated' } })

/** Why a page hears about its server outside a job: its end or its name changed, or it will end in a few minutes. */
export type ServerFrame = 'server.updated' | 'server.ending'
export const serverFrame = (identifier: string, event: ServerFrame, server: Server) =>
  JSON.stringify({ identifier, message: { event, server } })

/** Their place in line moved, is theirs now, or is gone. */
export const lineFrame = (identifier: string, line: LinePlace | null) =>
  JSON.stringify({ identifier, message: { event: 'line.updated', line } })

/** A longer message closes its socket. */
const MAX_MESSAGE_BYTES = 4_096
export const MAX_MESSAGES_PER_SECOND = 20

export function isReadable(message: string | ArrayBuffer): boolean {
  const bytes = typeof message === 'string' ? new TextEncoder().encode(message).length : message.byteLength
  return bytes <= MAX_MESSAGE_BYTES
}

export type Command = { command: 'subscribe' | 'unsubscribe'; identifier: string }

/** Parses a client's frame; null for anything we ignore. */
export function parseCommand(frame: string): Command | null {
  const value = parseObject(frame)
  if (!value || typeof value.identifier !== 'string') return null
  if (value.command !== 'subscribe' && value.command !== 'unsubscribe') return null
  if (!parseObject(value.identifier)) return null
  return { command: value.command, identifier: value.identifier }
}

/** Whether the identifier names this user's own JobsChannel. */
export function isOwnJobsChannel(identifier: string, userId: string): boolean {
  const value = parseObject(identifier)
  return value?.channel === 'JobsChannel' && value.user_id === userId
}

function parseObject(text: string): Record<string, unknown> | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Not JSON, so not an object.
  }
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null
}
