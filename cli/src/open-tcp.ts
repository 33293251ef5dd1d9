import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { FORWARD_PROTOCOL, IN_TURN_PROTOCOL } from '../../src/domain/forward.ts'
import { jsonOf, refusalOf, withoutAnswer } from './api.ts'
import type { Failure } from './failure.ts'
import type { Site } from './site.ts'

const OPEN_WITHIN_MS = 10_000
/** For each, the site checks who is asking. A program may open hundreds at once, so the others wait for their turn. */
const OPENING_AT_ONCE = 16
/** How long we retry while the site is busy. */
const PATIENCE_MS = 30_000
const AGAIN_MS = 1_000
const BUSY = [429, 503]

export type NotOpen = { how: 'refused' | 'unreachable'; failure: Failure }
export type Port = { serverId: string; port: number }

/** Opens the WebSocket that leads to a port of the server. It starts paused, so that nothing arrives unheard. */
export async function openTcp(site: Site, to: Port, signal: AbortSignal): Promise<WebSocket | NotOpen> {
  const endTurn = await takeTurn()
  const since = Date.now()
  try {
    while (true) {
      const opened = await tryToOpen(site, to, signal)
      if (opened instanceof WebSocket || opened.busyMs === null) return opened
      if (Date.now() - since + opened.busyMs > PATIENCE_MS || signal.aborted) return opened
      await sleep(opened.busyMs, null, { signal }).catch(() => {})
    }
  } finally {
    endTurn()
  }
}

const lastOf = new Map<string, Promise<void>>()

/** Keeps a port's connections in the order in which they were opened here. The next comes once this one is through. */
export function takePlace({ serverId, port }: Port): { comes: Promise<void>; pass(): void } {
  const key = `${serverId} ${port}`
  const comes = lastOf.get(key) ?? Promise.resolve()
  let pass = () => {}
  const passed = new Promise<void>((resolve) => {
    pass = resolve
  })
  lastOf.set(
    key,
    comes.then(() => passed),
  )
  return { comes, pass }
}

let opening = 0
const waiting: (() => void)[] = []

async function takeTurn(): Promise<() => void> {
  if (opening < OPENING_AT_ONCE) opening++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  return () => {
    const next = waiting.shift()
    if (next) next()
    else opening--
  }
}

/** @returns `busyMs`: after what time a retry may work; null if it won't */
async function tryToOpen(
  site: Site,
  { serverId, port }: Port,
  signal: AbortSignal,
): Promise<WebSocket | (NotOpen & { busyMs: number | null })> {
  const socket = new WebSocket(
    `${site.url.replace('http', 'ws')}/api/v1/servers/${serverId}/tcp/${port}`,
    [IN_TURN_PROTOCOL, FORWARD_PROTOCOL],
    {
      headers: { Authorization: `Bearer ${site.token}` },
      handshakeTimeout: OPEN_WITHIN_MS,
      // Most bytes are compressed already, and this would cost five times as much as everything else.
      perMessageDeflate: false,
    },
  )
  return new Promise((resolve) => {
    const stop = () => socket.terminate()
    signal.addEventListener('abort', stop)
    const settle = (result: Parameters<typeof resolve>[0]) => {
      signal.removeEventListener('abort', stop)
      resolve(result)
    }
    socket.on('open', () => {
      socket.pause()
      settle(socket)
    })
    socket.on('unexpected-response', async (_, answer: IncomingMessage) => {
      const soon = { signal: AbortSignal.timeout(OPEN_WITHIN_MS) }
      const text = Buffer.concat(await answer.toArray(soon).catch(() => [])).toString()
      const { statusCode: status = 0, headers } = answer
      const response = { status, headers: new Headers({ location: headers.location ?? '' }) }
      const busyMs = BUSY.includes(status) ? Number(headers['retry-after'] ?? Number.NaN) * 1000 || AGAIN_MS : null
      settle({ how: 'refused', failure: refusalOf(site, response, jsonOf(text)), busyMs })
    })
    socket.on('error', (cause) => settle({ how: 'unreachable', failure: withoutAnswer(site, cause), busyMs: null }))
    if (signal.aborted) stop()
  })
}
