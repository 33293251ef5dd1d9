import { createServer, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { openTcp } from '../../cli/src/open-tcp.ts'
import { atEnd } from '../../testing/stack/at-end.ts'
import { serve } from '../../testing/stack/serve.ts'

/** A site that answers each request to open a connection as the test says. */
async function openSite(answer: (accept: () => void, refuse: (head: string) => void) => void) {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer().on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) =>
    answer(
      () => sockets.handleUpgrade(req, socket, head, (open) => open.send('hello')),
      (said) => socket.end(`HTTP/1.1 ${said}\r\nConnection: close\r\n\r\n{"error":"Busy."}`),
    ),
  )
  const url = await serve(server)
  atEnd(() => {
    for (const client of sockets.clients) client.terminate()
  })
  return { url, token: 'pg_x' }
}

const to = { serverId: 'ses_1', port: 41451 }
const open = (site: Parameters<typeof openTcp>[0]) => openTcp(site, to, new AbortController().signal)

/** What it says first. */
async function firstOf(opened: Awaited<ReturnType<typeof openTcp>>) {
  if (!(opened instanceof WebSocket)) return opened.how
  atEnd(() => opened.terminate())
  const said = new Promise((resolve) => opened.once('message', (data) => resolve(String(data))))
  opened.resume()
  return said
}

test('opens hundreds without asking the site about more than 16 at once, and misses nothing they say', async () => {
  const held: (() => void)[] = []
  let most = 0
  let left = 200
  const site = await openSite((accept) => {
    most = Math.max(most, held.push(accept))
    if (held.length < Math.min(16, left)) return
    // A seventeenth would come meanwhile.
    setTimeout(() => {
      left -= held.length
      for (const go of held.splice(0)) go()
    }, 20)
  })
  const opened = await Promise.all(Array.from({ length: 200 }, () => open(site)))
  expect(new Set(await Promise.all(opened.map(firstOf)))).toEqual(new Set(['hello']))
  expect(most).toBe(16)
})

test('asks a busy site again when it says, and gives up on one that stays busy for long', async () => {
  const answers = ['503 Service Unavailable', '429 Too Many Requests\r\nRetry-After: 1']
  const site = await openSite((accept, refuse) => {
    const next = answers.shift()
    if (next) refuse(next)
    else accept()
  })
  expect(await firstOf(await open(site))).toBe('hello')
  answers.push('429 Too Many Requests\r\nRetry-After: 60', 'never asked')
  expect(await open(site)).toMatchObject({ how: 'refused', failure: { message: 'Busy.' } })
  expect(answers).toEqual(['never asked'])
})

test('an answer that will stay the same ends it at once, and so does the end of everything', async () => {
  const answers = ['409 Conflict', 'never asked']
  const site = await openSite((_, refuse) => refuse(answers.shift() ?? ''))
  expect(await open(site)).toMatchObject({ how: 'refused' })
  expect(answers).toEqual(['never asked'])
  const ended = AbortSignal.abort()
  expect(await openTcp(site, to, ended)).toMatchObject({ how: 'unreachable' })
})
