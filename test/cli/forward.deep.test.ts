import { randomBytes, randomInt } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { expect, inject, test } from 'vitest'
import { cannotListen, portPairs } from '../../cli/src/forward.ts'
import { newApiToken } from '../../src/domain/api-token.ts'
import { stopServer } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { endOf, newForwarder, openForward } from '../../testing/people/forwarder.ts'
import { atEnd } from '../../testing/stack/at-end.ts'
import { openBreakableLine } from '../../testing/stack/breakable-line.ts'
import { listenOn, openDoorStack } from '../../testing/stack/door.ts'

/** A reset may come before the program knows that it's connected. */
const resetAtOnce = () => 'reset'

const stack = await openDoorStack()
const MB = 1_000_000
const AIRSIM = 41451
const MAVLINK = 5760

const echo = (socket: Socket) => void socket.pipe(socket)
const whole = async (socket: Socket) => Buffer.concat(await socket.toArray())

test.concurrent('carries several ports both ways, and each half ends for itself', async () => {
  const ada = await newForwarder(stack)
  await listenOn(ada.server.machine, AIRSIM, echo)
  await listenOn(ada.server.machine, MAVLINK, async (socket) => {
    const got = await whole(socket)
    socket.end(`got ${got.length}`)
  })
  const { connect, seen, localPort } = await openForward(ada, [AIRSIM, MAVLINK])
  expect(seen.out).toBe(
    [AIRSIM, MAVLINK].map((port) => `Port ${port} of your server is at 127.0.0.1:${localPort(port)}\n`).join(''),
  )
  const sent = randomBytes(5 * MB)
  const one = await connect(AIRSIM)
  one.end(sent)
  expect((await whole(one)).equals(sent)).toBe(true)
  // The answer comes after the question's end.
  const two = await connect(MAVLINK)
  two.end(sent)
  expect((await whole(two)).toString()).toBe(`got ${sent.length}`)
  expect(seen.err).toBe('Press Ctrl-C to end this.\n')
})

test.concurrent('a side that stops reading makes the other side wait', async ({ expect }) => {
  const ada = await newForwarder(stack)
  /** Writes without an end, and counts what left. */
  const pour = (socket: Socket) => {
    const left = { bytes: 0 }
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      if (socket.destroyed) return
      socket.write(chunk, () => (left.bytes += chunk.length)) ? setImmediate(more) : socket.once('drain', more)
    }
    more()
    return left
  }
  let fromMachine = { bytes: 0 }
  const { promise: machine, resolve: onMachine } = Promise.withResolvers<Socket>()
  await listenOn(ada.server.machine, AIRSIM, (socket) => (fromMachine = pour(socket)))
  await listenOn(ada.server.machine, MAVLINK, (socket) => onMachine(socket.pause()))
  const { connect } = await openForward(ada, [AIRSIM, MAVLINK])
  const untilStill = async (left: () => number) => {
    for (let before = 0; before === 0 || left() !== before; await new Promise((next) => setTimeout(next, 400)))
      before = left()
    return left()
  }

  // The kernels' buffers and two windows are full by then.
  const deaf = (await connect(AIRSIM)).pause()
  const waiting = await untilStill(() => fromMachine.bytes)
  expect(waiting).toBeLessThan(40 * MB)
  deaf.resume()
  await expect.poll(() => fromMachine.bytes).toBeGreaterThan(waiting + 40 * MB)
  deaf.destroy()

  const toMachine = pour(await connect(MAVLINK))
  // The local buffers fill before the connection has reached the machine.
  const there = await machine
  const unread = await untilStill(() => toMachine.bytes)
  expect(unread).toBeLessThan(40 * MB)
  there.resume()
  await expect.poll(() => toMachine.bytes).toBeGreaterThan(unread + 40 * MB)
})

test.concurrent('a network that drops ends its connections, and new ones work once it is back', async () => {
  const line = await openBreakableLine(stack.url)
  atEnd(() => line.close())
  const ada = await newForwarder(stack, line.url)
  await listenOn(ada.server.machine, AIRSIM, echo)
  const { connect, shows } = await openForward(ada, [AIRSIM])
  const first = await connect(AIRSIM)
  first.write('a')
  await new Promise((resolve) => first.once('data', resolve))
  const ended = endOf(first)
  line.cut()
  // It must not look like the end of the data.
  expect(await ended).toBe('reset')
  await shows(`${AIRSIM}: A connection broke off. Programs can connect again.`)
  expect(await connect(AIRSIM).then(endOf, resetAtOnce)).toBe('reset')
  await shows(`${AIRSIM}: Can't reach ${line.url}`)
  line.mend()
  const again = await connect(AIRSIM)
  again.end('b')
  expect((await whole(again)).toString()).toBe('b')
  await shows(`${AIRSIM}: Connected again.`)
})

test.concurrent('Ctrl-C ends it at once, with its connections', async () => {
  const ada = await newForwarder(stack)
  let machine: Promise<string> | undefined
  await listenOn(ada.server.machine, AIRSIM, (socket) => {
    machine = endOf(socket)
    socket.on('end', () => socket.end())
    socket.write('hello')
  })
  const { connect, child, ended } = await openForward(ada, [AIRSIM])
  const open = await connect(AIRSIM)
  await new Promise((resolve) => open.once('data', resolve))
  const closed = endOf(open)
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 130 })
  await closed
  expect(await machine).toBe('closed')
})

test.concurrent('says that the server stopped, and that the token ended', async () => {
  const ada = await newForwarder(stack)
  await listenOn(ada.server.machine, AIRSIM, echo)
  const { connect, ended } = await openForward(ada, [AIRSIM])
  const open = await connect(AIRSIM)
  const closed = endOf(open)
  await stopServer(ada.person)
  expect(await ended).toMatchObject({ code: 0, err: 'Press Ctrl-C to end this.\nYour server stopped.\n' })
  await closed

  const bob = await newForwarder(stack)
  const forwarding = await openForward(bob, [AIRSIM])
  await bob.person.open('/account_overview')
  expect((await bob.run(['token', '--revoke'])).code).toBe(0)
  // It notices at the next connection, or before, at a look of its own.
  await forwarding.connect(AIRSIM).then(endOf, () => {})
  const { code, err } = await forwarding.ended
  expect([code, err]).toEqual([3, expect.stringContaining('This API token is not valid')])
})

test.concurrent('each reason why it cannot begin has a sentence and a code', async () => {
  const ada = await newForwarder(stack)
  const taken = createServer().listen(0, '127.0.0.1')
  atEnd(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  expect(await ada.run(['forward', `${AIRSIM}:0`, `${AIRSIM}:${port}`])).toMatchObject({
    code: 6,
    out: '',
    err: expect.stringContaining(`Another program uses 127.0.0.1:${port}. Choose another port`),
  })
  expect(cannotListen(80, 80, Object.assign(new Error(), { code: 'EACCES' }))).toMatchObject({
    exitCode: 7,
    message: expect.stringContaining('Only an administrator may listen on 127.0.0.1:80.'),
  })
  expect(await ada.run(['forward', '22:0'])).toMatchObject({
    code: 8,
    err: expect.stringContaining("Port 22 isn't open. These are: 41451"),
  })
  const none = { PROVING_GROUND_TOKEN: '' }
  expect(await ada.run(['forward', '41451:0'], '', none)).toMatchObject({
    code: 3,
    err: expect.stringContaining("You aren't signed in"),
  })
  const gone = { PROVING_GROUND_TOKEN: newApiToken(randomInt) }
  expect(await ada.run(['forward', '41451:0'], '', gone)).toMatchObject({
    code: 3,
    err: expect.stringContaining('it was revoked, it expired, or it never existed'),
  })
  expect(await ada.run(['forward', '41451:0', '--server', 'ses_none'])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`These are running: ${ada.server.id}`),
  })
  for (const wrong of [[], ['0'], ['65536'], ['a'], ['1:2:3'], ['1:70000'], ['5:9', '6:9']])
    expect((await ada.run(['forward', ...wrong])).code).toBe(2)
})

test.concurrent('a site without doors has nothing to forward through', async () => {
  const bob = await newOperator(inject('url'))
  expect(await bob.run(['forward', '41451:0'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('No server is running.'),
  })
  await bob.run(['start', '--wait'])
  expect(await bob.run(['forward', '41451:0'])).toMatchObject({
    code: 9,
    err: expect.stringContaining('no private address'),
  })
})

test('reads ports as they are written', () => {
  expect(portPairs('41451')).toEqual([{ port: 41451, localPort: 41451 }])
  expect(portPairs('5760:15760', portPairs('41451'))).toEqual([
    { port: 41451, localPort: 41451 },
    { port: 5760, localPort: 15760 },
  ])
  expect(portPairs('1:0', portPairs('2:0'))).toHaveLength(2)
})
