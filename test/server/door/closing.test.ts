import { type OutgoingHttpHeaders, request } from 'node:http'
import { createServer } from 'node:net'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { openDatabase } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { bills, invoices } from '../../../db/schema/billing.ts'
import { runs } from '../../../db/schema/fleet.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../../dev/seed.ts'
import { builtModules } from '../../../dev/stack.ts'
import { Client, newPerson, PASSWORD, type Reply, waitFor } from '../../../testing/people/client.ts'
import { atEnd } from '../../../testing/stack/at-end.ts'
import {
  ask,
  cookieOf,
  newBrowser,
  newRunner,
  newToken,
  OPENS,
  onMachine,
  openDoorStack,
  socketTo,
  tokenOf,
} from '../../../testing/stack/door.ts'

/**
 * The Worker that never looks by itself: what closes, somebody told it. The keeper's timer stays, which pins it. The
 * channel's alarm counts only if someone woke it, not the fallback after a start.
 */
const NO_LOOK = `import { DoorKeeper as Keeper, JobChannel as Channel } from './index.js'
export * from './index.js'
export { default } from './index.js'
if (!Keeper.prototype.keepLooking || !Channel.prototype.recheckDoor) throw new Error('It has another name now.')
export class DoorKeeper extends Keeper { keepLooking() { this.pin ??= setInterval(() => {}, 1_000) } }
export class JobChannel extends Channel {
  wake(userId) {
    this.isWoken = true
    return super.wake(userId)
  }
  // Only an alarm's look names the user.
  recheckDoor(userId) {
    if (userId === undefined || this.isWoken) super.recheckDoor(userId)
    if (userId !== undefined) this.isWoken = false
  }
}`
const stack = await openDoorStack([{ type: 'ESModule', path: 'no-look.js', contents: NO_LOOK }, ...builtModules()])
const db = openDatabase(stack.services.vars.LIBSQL_URL as string)
const WEB = 9090
const TCP = 41451

/** Someone whose machine echoes, and streams without an end. */
async function newRunnerWithEcho(at: Pick<typeof stack, 'url'> = stack) {
  const { person, server } = await newRunner(at)
  /** Requests that the machine has, by their path. */
  const there = new Set<string>()
  const machine = await onMachine(server.machine, WEB, (req, res) => {
    const path = req.url ?? ''
    there.add(path)
    const drip = setInterval(() => path in DRIPS && res.write('data: x\n\n'), 250)
    req.on('error', () => {}).resume()
    res.on('close', () => {
      clearInterval(drip)
      there.delete(path)
    })
    if (path in DRIPS) res.writeHead(200, DRIPS[path])
  })
  new WebSocketServer({ server: machine.server }).on('connection', (socket) =>
    socket.on('message', (data) => socket.send(data)),
  )
  const echo = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => echo.listen(TCP, server.machine, resolve))
  atEnd(() => new Promise((resolve) => echo.close(resolve)))
  const connections = () => new Promise<number>((resolve) => echo.getConnections((_, count) => resolve(count)))
  return { person, server, there, connections, own: server.door_url.replace('.door', `-${WEB}.door`) }
}

/** Answers that never end: of unknown length, and of a short and a long one. */
const DRIPS: Record<string, OutgoingHttpHeaders> = {
  '/events': { 'content-type': 'text/event-stream' },
  '/short': { 'content-length': 9_000 },
  '/long': { 'content-length': 9_000_000 },
}

/** Each kind of traffic, all open: those answers, requests that wait or are still being sent, and a WebSocket. */
async function connectAll({ own, there }: Pick<Runner, 'own' | 'there'>, headers: Record<string, string>) {
  const talk = await socketTo(own, headers)
  talk.socket.send('hello')
  await waitFor(async () => talk.received.length === 1)
  const { host, port } = new URL(own)
  const open = new Map<string, string>()
  for (const [path, method] of [
    ...Object.keys(DRIPS).map((path) => [path, 'GET']),
    ['/wait', 'GET'],
    ['/send', 'POST'],
  ]) {
    const asked = request({ host: '127.0.0.1', port, path, method, headers: { host, ...headers }, agent: false })
    open.set(path as string, '')
    asked.on('response', (answer) => {
      open.set(path as string, `${answer.statusCode}`)
      answer
        .on('error', () => {})
        .on('close', () => open.delete(path as string))
        .resume()
    })
    asked.on('error', () => open.delete(path as string))
    const send = setInterval(() => path === '/send' && asked.write('more'), 250)
    if (method === 'GET') asked.end()
    atEnd(() => {
      clearInterval(send)
      asked.destroy()
    })
  }
  const all = [...Object.keys(DRIPS), '/wait', '/send'].sort()
  await waitFor(async () => [...there].sort().join() === all.join() && open.get('/short') === '200')
  expect([talk.state.closed, [...open.keys()].sort()]).toEqual([null, all])
  return async () => {
    await waitFor(async () => talk.state.closed !== null && open.size === 0)
    // The machine doesn't go on either.
    await waitFor(async () => there.size === 0)
  }
}

/** What it gets for a port's host from the main one. */
async function portCookie(browser: ReturnType<typeof newBrowser>, own: string) {
  expect((await browser.open(`${own}.door/enter`, { 'sec-fetch-dest': 'empty' })).answer?.status).toBe(204)
  return browser.cookie(own)
}

test.concurrent('a guest comes in by a link until its owner ends it, open connections included', async () => {
  const { person, server, there, own } = await newRunnerWithEcho()
  const at = `/api/v1/servers/${server.id}/guests`
  for (const hours of [0, 73, 1.5, null]) expect((await person.post(at, { hours })).status).toBe(422)
  expect((await person.post(at, { hours: '4' })).status).toBe(400)
  const made = await person.post(at, { hours: 1 })
  expect(made).toMatchObject({ status: 201, body: { guest: { uses: 0 } } })
  const { id, url, expires_at, created_at } = made.body.guest
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3_600_000)
  const browser = newBrowser()
  expect((await browser.open(url)).answer?.status).toBe(200)
  const cookie = browser.cookie(server.door_url)
  const untilClosed = await connectAll({ own, there }, { cookie: await portCookie(browser, own) })
  expect((await person.get(at)).body).toMatchObject({ guests: [{ id, uses: 1 }] })

  const eve = await newPerson(stack.url, 'Eve')
  expect((await eve.get(at)).status).toBe(404)
  expect((await eve.post(at, { hours: 1 })).status).toBe(404)
  expect((await eve.request('DELETE', `${at}/${id}`)).status).toBe(404)
  const other = await person.post(at, { hours: 72 })
  expect((await person.request('DELETE', `${at}/${id}`)).status).toBe(200)
  await untilClosed()
  expect((await ask(server.door_url, { cookie })).status).toBe(401)
  // Their reload says why, and doesn't ask for a password that guests don't have.
  const reloaded = await ask(server.door_url, { ...OPENS, cookie })
  expect([reloaded.status, reloaded.text]).toEqual([404, expect.stringContaining('This link no longer works')])
  expect((await ask(url, OPENS)).status).toBe(404)
  expect((await person.request('DELETE', `${at}/${id}`)).status).toBe(404)
  expect((await ask(other.body.guest.url, OPENS)).status).toBe(302)
  expect((await person.get(at)).body).toMatchObject({ guests: [{ id: other.body.guest.id, uses: 1 }] })
})

test.concurrent('signing out closes the door for that browser only', async () => {
  const { person, server, there, own } = await newRunnerWithEcho()
  const browser = newBrowser(person)
  await browser.open(server.door_url)
  const cookie = browser.cookie(server.door_url)
  const token = await tokenOf(person)
  const untilClosed = await connectAll({ own, there }, { cookie: await portCookie(browser, own) })
  const stays = await socketTo(own, { authorization: `Bearer ${token}` })
  await person.open('/dashboard')
  expect((await person.request('DELETE', '/users/sign_out')).status).toBe(200)
  await untilClosed()
  expect((await ask(server.door_url, { cookie })).status).toBe(401)
  expect(stays.state.closed).toBe(null)
  expect((await ask(server.door_url, { authorization: `Bearer ${token}` })).status).toBe(200)
})

test.concurrent('a new password in their only browser closes what a copy of its cookie holds', async () => {
  const { person, server, there, own } = await newRunnerWithEcho()
  const cookie = await cookieOf(person, server.door_url)
  const untilClosed = await connectAll({ own, there }, { cookie })
  await person.open('/account_overview')
  expect((await person.request('PUT', '/users', { user: NEW_PASSWORD })).status).toBe(200)
  await untilClosed()
  expect((await ask(server.door_url, { cookie })).status).toBe(401)
})

const ENDS = {
  'a new password': { status: 401, act: ({ person }) => person.request('PUT', '/users', { user: NEW_PASSWORD }) },
  'a revoked token': { status: 401, act: ({ person, token }) => person.request('DELETE', `/api_tokens/${token.id}`) },
  'closing the account': {
    status: 410,
    act: ({ person }) => person.request('DELETE', '/users', { user: { current_password: PASSWORD } }),
  },
  'a suspension': {
    status: 403,
    async act({ person }) {
      const admin = new Client(stack.url)
      await admin.signIn(SEED_EMAILS.admin, SEED_PASSWORD)
      await admin.open('/console')
      return admin.post(`/admin/people/${person.id}/suspend`, { reason: 'They asked us to.', confirmed: true })
    },
  },
  'a bill that another account of theirs left unpaid': {
    status: 403,
    async act({ person }) {
      const [account] = await db.select().from(users).where(eq(users.id, person.id))
      const [id, at] = [`user_left_${person.id}`, Date.now()]
      const left = { id, name: 'Ada', email: `${id}@example.com`, passwordHash: 'x', mailbox: account?.mailbox ?? '' }
      await db.insert(users).values({ ...left, createdAt: at, confirmedAt: at, closedAt: at })
      const bill = { id: `bill_${id}`, userId: id, periodStart: at - 3_600_000, periodEnd: at, includedHours: 0 }
      await db.insert(bills).values({ ...bill, trial: false, seconds: 3600, amountCents: 175, createdAt: at })
      await db.insert(invoices).values({ billId: bill.id, userId: id, step: 'draft', nextAt: at, createdAt: at })
      return person.post('/dev/cron', { cron: '* * * * *' })
    },
  },
  "the run's end": {
    status: 410,
    act: ({ person, server }) =>
      person.post('/api/v1/aws/stop_server', { server_id: server.server_id, session_id: server.id }),
  },
} satisfies Record<string, { status: number; act: (given: Given) => Promise<Reply> }>

type Runner = Awaited<ReturnType<typeof newRunnerWithEcho>>
type Given = Runner & { token: Awaited<ReturnType<typeof newToken>> }
const NEW_PASSWORD = {
  name: 'Ada',
  current_password: PASSWORD,
  password: 'another long password',
  password_confirmation: 'another long password',
}

test.concurrent.each(Object.entries(ENDS))('%s closes the door at once', async (_, { status, act }) => {
  const runner = await newRunnerWithEcho()
  const { person, server, there, connections, own } = runner
  const token = await newToken(person)
  const headers = { authorization: `Bearer ${token.token}` }
  const untilClosed = await connectAll({ own, there }, headers)
  const raw = await socketTo(`${stack.url}/api/v1/servers/${server.id}/tcp/${TCP}`, headers)
  raw.socket.send(Buffer.from('bytes'))
  await waitFor(async () => Buffer.concat(raw.received as Buffer[]).toString() === 'bytes')
  await person.open('/account_overview')
  expect((await act({ ...runner, token })).status).toBeLessThan(300)
  await untilClosed()
  await waitFor(async () => raw.state.closed !== null && (await connections()) === 0)
  expect((await ask(server.door_url, headers)).status).toBe(status)
})

test.concurrent("what ends by itself, like a guest's hours, closes at the next look", async () => {
  const usual = await openDoorStack()
  const { person, server, there, own } = await newRunnerWithEcho(usual)
  const { guest } = (await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })).body
  const entered = await ask(guest.url, OPENS)
  const untilClosed = await connectAll(
    { own, there },
    { cookie: entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '' },
  )
  await usual.services.clock.advance(3_600)
  await untilClosed()
})

test.concurrent('an address that EC2 gave to a later machine is not reached, nor one that EC2 no longer finds', async () => {
  const { person, server } = await newRunnerWithEcho()
  const headers = { authorization: `Bearer ${await tokenOf(person)}` }
  const untilStatus = (wanted: number) => waitFor(async () => (await ask(server.door_url, headers)).status === wanted)
  await untilStatus(200)
  const bob = await newRunner(stack, 'Bob')
  const [mine] = await db.select().from(runs).where(eq(runs.id, server.id))
  await db
    .update(runs)
    .set({ privateAddress: mine?.privateAddress ?? '' })
    .where(eq(runs.id, bob.server.id))
  await untilStatus(503)
  await db.update(runs).set({ privateAddress: '10.64.9.9' }).where(eq(runs.id, bob.server.id))
  await untilStatus(200)
  const set = (id: string, values: Partial<typeof runs.$inferInsert>) =>
    db.update(runs).set(values).where(eq(runs.id, id))
  // A look at EC2 may find it meanwhile, and takes this back.
  await waitFor(async () => {
    await set(server.id, { unseenSince: Date.now() })
    return (await ask(server.door_url, headers)).status === 503
  })
  await set(server.id, { unseenSince: null })
  await untilStatus(200)
  await set(server.id, { billedFrom: null })
  await untilStatus(503)
  // An earlier machine that had it, or one that is gone, changes nothing.
  const shared = { privateAddress: mine?.privateAddress ?? '' }
  await set(server.id, { billedFrom: mine?.billedFrom ?? 0 })
  await set(bob.server.id, { ...shared, runningAt: (mine?.runningAt ?? 0) - 1 })
  await untilStatus(200)
  await set(bob.server.id, { ...shared, runningAt: (mine?.runningAt ?? 0) + 1 })
  await untilStatus(503)
  await set(bob.server.id, { endedAt: Date.now() })
  await untilStatus(200)
})

test.concurrent('guests stay out while the owner’s account is suspended, held, unconfirmed, or closed', async () => {
  const { person, server } = await newRunner(stack)
  const { guest } = (await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })).body
  const cookie = (await ask(guest.url, OPENS)).headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const untilStatus = (wanted: number) =>
    waitFor(async () => (await ask(server.door_url, { cookie })).status === wanted)
  const [owner] = await db.select().from(users).where(eq(users.id, person.id))
  const set = (values: Partial<typeof users.$inferInsert>) =>
    db.update(users).set(values).where(eq(users.id, person.id))
  await untilStatus(200)
  for (const values of [{ suspendedAt: 1 }, { heldAt: 1 }, { confirmedAt: null }, { closedAt: 1 }]) {
    await set(values)
    await untilStatus(403)
    await set({ suspendedAt: null, heldAt: null, closedAt: null, confirmedAt: owner?.confirmedAt ?? null })
    await untilStatus(200)
  }
})
