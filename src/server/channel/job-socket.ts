import type { WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { type DisconnectReason, disconnectFrame } from '../../domain/cable.ts'

/** Survives hibernation with its socket. */
export type Attachment = {
  userId: string
  signInId: string
  expiresAt: number
  identifiers: string[]
  connectedAt: number
  /** When we last checked that its sign-in is still valid. */
  checkedAt: number
  /** Its browser got a new cookie: its tabs connect again before the next push, a copy of the old cookie can't. */
  isRenewed?: boolean
}

export function attachmentOf(socket: WorkerSocket): Attachment {
  return socket.deserializeAttachment() as Attachment
}

/** `send` throws on a closing socket, which may still be listed. */
export function sendTo(socket: WorkerSocket, frame: string): void {
  try {
    socket.send(frame)
  } catch {}
}

/** Closes for good: the client must not reconnect. */
export function closeSocket(socket: WorkerSocket, reason: DisconnectReason): void {
  sendTo(socket, disconnectFrame(reason))
  socket.close(1000, reason)
}

/** Closes for now: the client reconnects within seconds. */
export function restartSocket(socket: WorkerSocket): void {
  sendTo(socket, disconnectFrame('server_restart', true))
  socket.close(1012, 'server_restart')
}

/** Closes a socket whose sign-in ended: for good, unless its browser has a new cookie by now. */
export function endSocket(socket: WorkerSocket): void {
  if (attachmentOf(socket).isRenewed) restartSocket(socket)
  else closeSocket(socket, 'remote')
}
