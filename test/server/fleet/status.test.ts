import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { statusBy } from '../../../src/server/fleet/status.ts'
import type { Machine } from '../../../src/server/ports/machine.ts'

const servers: Server[] = []
afterAll(() => servers.forEach((server) => void server.close()))

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const answering = (answer: string | Buffer) =>
  listen(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answer))
    }),
  )

/** The machines' network, in front of servers on this machine. */
const network = (to: number): Machine => ({
  fetch: (_, path, request) => fetch(`http://127.0.0.1:${to}${path}`, { ...request, redirect: 'manual' }),
  connect: () => {
    throw new Error('not used')
  },
})

/** Bytes: more than all buffers on the way hold. */
const ENDLESS = 32_000_000
const GOOD = '{"idle_seconds": 90}'
const head = (status: string, more = '') => `HTTP/1.1 ${status}\r\n${more}Connection: close\r\n\r\n`

describe.each(['on the internet', "in the machines' network"])('a machine %s', (where) => {
  const ask = (to: number) =>
    where === 'on the internet' ? statusBy(null)('127.0.0.1', to) : statusBy(network(to))('10.0.0.1', to)

  test('says what it answers', async () => {
    expect(await ask(await answering(`${head('200 OK')}${GOOD}`))).toBe(GOOD)
  })

  test.each([
    ['is missing', head('404 Not Found') + GOOD],
    ['fails', head('500 Internal Server Error') + GOOD],
    ['leads elsewhere', head('302 Found', 'Location: /elsewhere\r\n') + GOOD],
    ['is empty', head('204 No Content')],
    ['is huge', head('200 OK') + GOOD + ' '.repeat(2_000_000)],
    ['is a little too long', head('200 OK') + GOOD.padEnd(1_025)],
    ['is no HTTP', 'idle since yesterday\r\n\r\n{"idle_seconds": 90}'],
    ['breaks off', 'HTTP/1.1 200 OK\r\n'],
  ])('says nothing if its answer %s', async (_, answer) => {
    expect(await ask(await answering(answer))).toBeNull()
  })

  test('says nothing if nothing listens there', async () => {
    const server = createServer()
    const gone = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await ask(gone)).toBeNull()
  })

  test('reads no more than it needs of an answer that never ends', async () => {
    let sent = 0
    const endless = await listen(
      createServer((socket) => {
        socket.on('error', () => {})
        const more = () => {
          while (!socket.destroyed && sent < ENDLESS) {
            sent += 65_536
            if (!socket.write(' '.repeat(65_536))) return
          }
        }
        socket.on('drain', more)
        socket.once('data', () => {
          socket.write(head('200 OK'))
          more()
        })
      }),
    )
    expect(await ask(endless)).toBeNull()
    expect(sent).toBeLessThan(ENDLESS)
  })

  test('says nothing if it answers a byte at a time', async () => {
    const slow = await listen(
      createServer((socket) => {
        socket.on('error', () => {})
        socket.write(head('200 OK'))
        // Its last byte comes after 3 seconds.
        let sent = 0
        const timer = setInterval(() => {
          if (sent < GOOD.length) socket.write(GOOD.charAt(sent++))
          else socket.end()
        }, 150)
        socket.on('close', () => clearInterval(timer))
      }),
    )
    expect(await ask(slow)).toBeNull()
  })
})

test('the network is asked for the path alone, as JSON', async () => {
  const asked: unknown[] = []
  const machine = {
    ...network(0),
    fetch: async (...call: unknown[]) => {
      asked.push(call.slice(0, 2))
      return new Response(GOOD)
    },
  }
  expect(await statusBy(machine as unknown as Machine)('10.0.0.1', 5173)).toBe(GOOD)
  expect(asked).toEqual([['10.0.0.1:5173', '/status']])
})
