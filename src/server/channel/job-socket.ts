import type { WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { type DisconnectReason, disconnectFrame } from '../../domain/cable.ts'

/** Survives hibernation with its socket. */
export type Attachment = {
  userId: string
  signInId: string
  expiresAt: number
  identifiers: string[]
  connectedAt: number
  /** When its sign-in was last seen to count. */
  checkedAt: number
}

export function attachmentOf(socket: WorkerSocket): Attachment {
  return socket.deserializeAttachment() as Attachment
}

/** A socket that is closing may still be listed, and throws. */
export function sendTo(socket: WorkerSocket, frame: string): void {
  try {
    socket.send(frame)
  } catch {}
}

/** For good: the client does not come back by itself. */
export function closeSocket(socket: WorkerSocket, reason: DisconnectReason): void {
  sendTo(socket, disconnectFrame(reason))
  socket.close(1000, reason)
}

/** For now: the client comes back at once. */
export function restartSocket(socket: WorkerSocket): void {
  sendTo(socket, disconnectFrame('server_restart', true))
  socket.close(1012, 'server_restart')
}
