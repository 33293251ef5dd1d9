import { connect } from 'node:net'
import { eq, isNotNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { signIns } from '../../../db/schema/accounts.ts'
import { doorLinks } from '../../../db/schema/fleet.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../../dev/seed.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { Client, newPerson, waitFor } from '../../../testing/people/client.ts'
import { atEnd } from '../../../testing/stack/at-end.ts'
import { ask, cookieOf, newRunner, OPENS, onMachine, openDoorStack, socketTo } from '../../../testing/stack/door.ts'

const stack = await openDoorStack()
const database = openDatabase(stack.services.vars.LIBSQL_URL as string)
const WEB = 9090
const ada = await newRunner(stack)
const bob = await newRunner(stack, 'Bob')
const { door_url: url, machine } = ada.server
const own = url.replace('.door', `-${WEB}.door`)

/** Everything that reached Ada's machine on this port, by its path. */
const reached: { url: string; headers: Record<string, unknown> }[] = []
await onMachine(machine, WEB, (req, res) => {
  reached.push({ url: req.url ?? '', headers: req.headers })
  if (req.url === '/leave') res.writeHead(302, { location: `http://${bob.server.machine}:${WEB}/secret` })
  if (req.url === '/turn') res.writeHead(302, { location: '/elsewhere' })
  if (req.url === '/worker.js')
    res.writeHead(200, { 'content-type': 'text/javascript', 'service-worker-allowed': '/', 'cache-control': 'public' })
  res.end('the machine')
})
const secrets: string[] = []
await onMachine(bob.server.machine, WEB, (req, res) => {
  secrets.push(req.url ?? '')
  res.end('secret')
})
const cookie = await cookieOf(ada.person, url)

/** The site's answer to the owner's browser that was turned away at the door. */
async function openDoor(headers: Record<string, string> = {}) {
  const away = await ask(`${url}?x=1`, OPENS)
  const { pathname, search } = new URL(away.headers.location as string)
  return { away, open: await ada.person.request('GET', pathname + search, undefined, headers) }
}

/** Sends these bytes as they are. @returns the answer's first line */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    atEnd(() => void socket.destroy())
    let said = ''
    socket.on('data', (bytes) => {
      said += bytes
    })
    socket.on('error', () => {}).on('close', () => resolve(said.split('\r\n')[0] ?? ''))
  })
}

test('a request that says its length twice smuggles no second one to the machine', async () => {
  const { host } = new URL(own)
  const head = `POST /outer HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n`
  const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
  const lengths = [
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    `Transfer-Encoding: chunked\r\nContent-Length: ${hidden.length}\r\n\r\n0\r\n\r\n`,
    'Content-Length: 0\r\nContent-Length: 90\r\n\r\n',
    'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    `Connection: Content-Length\r\nContent-Length: ${hidden.length}\r\n\r\n`,
  ]
  for (const length of lengths) await sendRaw(head + length + hidden)
  expect(reached.filter(({ url }) => url !== '/outer')).toEqual([])
  // The ordinary one arrives.
  expect(await sendRaw(`${head}Content-Length: 4\r\n\r\nbody`)).toContain('200')
})

test('the machine sees its own address as the host, and nothing that says who asks', async () => {
  const given = {
    cookie: `a=1; ${cookie}`,
    'x-forwarded-host': 'evil.example',
    'x-forwarded-for': '198.51.100.7',
    connection: 'close, x-secret',
    'x-secret': 'a',
  }
  expect((await ask(`${own}seen`, given)).status).toBe(200)
  const seen = reached.find(({ url }) => url === '/seen')?.headers
  expect(seen).toMatchObject({ host: `${machine}:${WEB}`, 'x-forwarded-host': new URL(own).host, cookie: 'a=1' })
  for (const name of ['x-forwarded-for', 'x-secret']) expect(seen).not.toHaveProperty(name)
})

test('a redirect of the machine is the browser’s to follow, never ours', async () => {
  expect(await ask(`${own}leave`, { cookie })).toMatchObject({ status: 302 })
  expect(await ask(`${own}turn`, { cookie })).toMatchObject({ status: 302, headers: { location: '/elsewhere' } })
  // Also for a WebSocket, on whose way it could name one of our keeper's own paths.
  expect((await socketTo(`${own}turn`, { cookie })).state.refused).toBe(302)
  expect([secrets, reached.filter(({ url }) => url === '/elsewhere')]).toEqual([[], []])
  expect(reached.filter(({ url }) => url === '/turn')).toHaveLength(2)
})

test('cookies that another page tossed in change nothing: forged ones, and those of another run', async () => {
  const bobs = await cookieOf(bob.person, bob.server.door_url)
  for (const tossed of ['door=forged', bobs, `door=${bobs.slice(5, -3)}abc`]) {
    expect((await ask(url, { cookie: `${tossed}; ${cookie}` })).status).toBe(200)
    expect((await ask(url, { cookie: tossed })).status).toBe(401)
  }
})

test('service workers can’t be registered, and the next run has another host', async () => {
  const asked = { cookie, 'service-worker': 'script' }
  expect((await ask(`${own}worker.js`, asked)).status).toBe(403)
  const file = await ask(`${own}worker.js`, { cookie })
  expect([file.status, file.headers['service-worker-allowed']]).toEqual([200, undefined])

  const { person, server } = await newRunner(stack, 'Cy')
  const made = await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })
  await person.post('/api/v1/aws/stop_server', { server_id: server.server_id, session_id: server.id })
  const next = await waitFor(async () => {
    await person.post('/api/v1/aws/auto_cloud_start_request', {})
    const { body } = await person.get<{ servers: Server[] }>('/api/v1/servers/get_servers')
    return body.servers.find((each) => each.door_url) ?? null
  })
  expect(next.id).not.toBe(server.id)
  expect(new URL(next.door_url ?? '').host).not.toBe(new URL(server.door_url).host)
  expect((await ask(server.door_url, OPENS)).status).toBe(410)
  for (const link of [made.body.guest.url, `${server.door_url}.door/enter?guest=unknown`])
    expect((await ask(link, OPENS)).status).toBe(410)
  // The old one's page leads to its door, which says so, without a ticket.
  const open = await person.request('GET', `/servers/${server.id}/open`)
  expect(open.headers.get('location')).toBe(server.door_url)
  expect(await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })).toMatchObject({
    status: 409,
    body: { error: 'This server has stopped.' },
  })
})

test('nobody keeps a ticket: no cache, no referrer, no prefetch', async () => {
  const { away, open } = await openDoor()
  expect(away.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  expect(open.headers.get('cache-control')).toBe('private, no-store')
  expect(open.headers.get('referrer-policy')).toBe('no-referrer')
  const ticket = open.headers.get('location') ?? ''
  expect((await openDoor({ 'Sec-Purpose': 'prefetch' })).open.status).toBe(503)
  // HEAD looks, too.
  expect((await ask(ticket, OPENS, { method: 'HEAD' })).status).toBe(405)
  const entered = await ask(ticket, OPENS)
  expect(entered.headers).toMatchObject({
    location: '/?x=1',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  // A ticket in a referrer doesn't reach the machine, nor does the path that takes it.
  await ask(`${own}refers`, { cookie, referer: `${own}.door/enter?ticket=kept` })
  expect(reached.find(({ url }) => url === '/refers')?.headers.referer).toBe(`http://${machine}:${WEB}/.door/enter`)
  await ask(`${own}.door/enter?ticket=wrong`, { cookie, ...OPENS })
  expect(reached.filter(({ url }) => url.startsWith('/.door'))).toEqual([])
})

test('HEAD of the way in makes no ticket, and opens no connection', async () => {
  const tickets = () => database.$count(doorLinks, eq(doorLinks.runId, ada.server.id))
  const before = await tickets()
  const look = await ada.person.request('HEAD', `/servers/${ada.server.id}/open`)
  expect([look.status, look.headers.get('location')]).toEqual([302, url])
  expect((await bob.person.request('HEAD', `/servers/${ada.server.id}/open`)).status).toBe(404)
  expect(await tickets()).toBe(before)
  // A method that opens no WebSocket reaches the machine as what it is.
  const headers = { cookie, upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' }
  expect((await ask(`${own}head`, headers, { method: 'HEAD' })).status).toBe(200)
})

test('a link into the door leads nowhere else, however its path is written', async () => {
  const made = await ada.person.post(`/api/v1/servers/${ada.server.id}/guests`, { hours: 1 })
  const leadsTo = async (to: string) =>
    (await ask(`${made.body.guest.url}&to=${encodeURIComponent(to)}`, OPENS)).headers.location
  for (const to of ['/a/b?c=d', '/a//b', '/?to=//evil.example']) expect(await leadsTo(to)).toBe(to)
  const away = ['//evil.example', '/\\evil.example', '/.//evil.example/x', '/a/..//evil.example', '/%2e//evil.example']
  const others = [
    '/\t/evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '//',
    '/.door/enter',
    '/./.door/enter',
  ]
  for (const to of [...away, ...others]) expect([to, await leadsTo(to)]).toEqual([to, '/'])
})

test('a ticket is no guest’s link, a guest’s link is no ticket, and neither opens another run’s door', async () => {
  const made = await ada.person.post(`/api/v1/servers/${ada.server.id}/guests`, { hours: 1 })
  const elsewhere = made.body.guest.url.replace(new URL(url).host, new URL(bob.server.door_url).host)
  expect((await ask(elsewhere, OPENS)).status).toBe(404)
  const ticket = (await openDoor()).open.headers.get('location') ?? ''
  for (const address of [made.body.guest.url.replace('guest=', 'ticket='), ticket.replace('ticket=', 'guest=')])
    expect((await ask(address, OPENS)).status).toBe(404)
  // Nobody ends another run's link, nor a ticket.
  const end = async ({ person, server }: typeof ada, id: string) =>
    (await person.request('DELETE', `/api/v1/servers/${server.id}/guests/${id}`)).status
  expect(await end(bob, made.body.guest.id)).toBe(404)
  for (const { id } of await database.select().from(doorLinks).where(isNotNull(doorLinks.signInId)))
    expect(await end(ada, id)).toBe(404)
  // Neither is used up.
  for (const address of [made.body.guest.url, ticket]) expect((await ask(address, OPENS)).status).toBe(302)
})

test('what the machine sends stays in the visitor’s own browser', async () => {
  const file = await ask(`${own}worker.js`, { cookie })
  expect(file.headers['cache-control']).toBe('private')
  expect(file.headers['content-security-policy']).toContain(`frame-ancestors ${new URL(url).origin} `)
})

test('another site’s page can’t use a visitor’s access, not even for a WebSocket', async () => {
  const evil = { cookie, origin: 'https://evil.example' }
  expect((await ask(own, evil, { method: 'POST', body: 'x' })).status).toBe(403)
  expect((await ask(own, { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status).toBe(403)
  const frame = { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
  expect((await ask(own, { ...frame, referer: bob.server.door_url })).status).toBe(403)
  expect((await ask(own, { ...frame, referer: own })).status).toBe(200)
  expect((await socketTo(own, { cookie, origin: new URL(bob.server.door_url).origin })).state.refused).toBe(403)
  expect((await socketTo(own, evil)).state.refused).toBe(403)
})

test('an admin has no way in: not by a ticket, a token, or a guest’s link of their own', async () => {
  const admin = new Client(stack.url)
  await admin.signIn(SEED_EMAILS.admin, SEED_PASSWORD)
  expect((await admin.request('GET', '/console')).status).toBe(200)
  const { id } = ada.server
  for (const page of ['open', 'share', 'connect'])
    expect((await admin.request('GET', `/servers/${id}/${page}`)).status).toBe(404)
  expect((await admin.post(`/api/v1/servers/${id}/guests`, { hours: 1 })).status).toBe(404)
  await admin.open('/settings/developers')
  const form = { name: `Door ${Math.random()}`, scope: 'operate', days: 1, current_password: SEED_PASSWORD }
  const { token } = (await admin.post('/api_tokens', form)).body
  expect((await ask(url, { authorization: `Bearer ${token}` })).status).toBe(401)
  expect((await admin.request('GET', `/admin/runs/${id}`)).text).toContain('An admin has no way in.')
})

test('one host says whether the machines’ network answers, and nothing else', async () => {
  const { port } = new URL(url)
  const answer = await ask(`http://ready.door.localhost:${port}/`)
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { network: 'reachable' }])
})

test('a ticket works for a minute, and a guest’s link for its hours', async () => {
  const guests = `/api/v1/servers/${ada.server.id}/guests`
  const made = (await ada.person.post(guests, { hours: 1 })).body.guest
  const entered = await ask(made.url, OPENS)
  const guest = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  expect((await ask(url, { cookie: guest })).status).toBe(200)
  const ticket = (await openDoor()).open.headers.get('location') ?? ''
  const late = (await openDoor()).open.headers.get('location') ?? ''
  // Before the clock moves: a slow machine takes part of the minute itself.
  expect((await ask(ticket, OPENS)).status).toBe(302)
  const rows = await database.select().from(doorLinks).where(isNotNull(doorLinks.signInId))
  for (const { createdAt, expiresAt } of rows) expect(expiresAt - createdAt).toBe(60_000)
  const eve = await newPerson(stack.url, 'Eve')
  await eve.post('/dev/clock', { advance_seconds: 61 })
  expect((await ask(late, OPENS)).status).toBe(404)
  expect((await ask(made.url, OPENS)).status).toBe(302)
  await database
    .update(doorLinks)
    .set({ expiresAt: Date.now() + 30_000 })
    .where(eq(doorLinks.id, made.id))
  expect((await ask(made.url, OPENS)).status).toBe(404)
  await expect.poll(async () => (await ask(url, { cookie: guest })).status).toBe(401)
  // Nobody keeps the old tickets.
  await openDoor()
  const tickets = await database.select().from(doorLinks).where(isNotNull(doorLinks.signInId))
  expect(tickets.filter(({ runId }) => runId === ada.server.id)).toHaveLength(1)
})

test('a guest learns nothing of the owner’s files, and writes none', async () => {
  const made = await ada.person.post(`/api/v1/servers/${ada.server.id}/guests`, { hours: 1 })
  const entered = await ask(made.body.guest.url, OPENS)
  const guest = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const owner = await cookieOf(ada.person, url)
  expect((await ask(`${url}data/`, { cookie: owner })).status).toBe(200)
  // Past the door, nobody is the owner.
  expect((await fetch(`http://${machine}:5173/data/`)).status).toBe(403)
  for (const claim of [{}, { 'x-door-visitor': 'owner' }, { 'X-Door-Visitor': ['owner', 'owner'] }]) {
    const headers = { cookie: guest, ...claim }
    expect((await ask(url, headers)).status).toBe(200)
    for (const path of ['data/', 'data/a.txt', '%64ata/', 'x/../data/'])
      expect((await ask(`${url}${path}`, headers)).status, path).toBeOneOf([403, 404])
    expect((await ask(`${url}data/a.txt`, headers, { method: 'PUT', body: 'a' })).status).toBe(403)
  }
  expect((await ask(`${stack.url}/api/v1/files`, { cookie: guest })).status).toBe(401)
  expect((await ask(`${url}api/v1/files`, { cookie: guest })).status).toBe(404)
})

test('a server has at most 20 guest links at once', async () => {
  const guests = `/api/v1/servers/${bob.server.id}/guests`
  // Tickets don't count.
  await bob.person.request('GET', `/servers/${bob.server.id}/open`)
  const made = await Promise.all(Array.from({ length: 22 }, () => bob.person.post(guests, { hours: 1 })))
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20)
  const refused = { status: 409, body: { error: 'You have 20 open guest links. End one of them first.' } }
  expect(await bob.person.post(guests, { hours: 1 })).toMatchObject(refused)
  const { body } = await bob.person.get<{ guests: { id: string }[] }>(guests)
  await bob.person.request('DELETE', `${guests}/${body.guests[0]?.id}`)
  expect((await bob.person.post(guests, { hours: 1 })).status).toBe(201)
  // Neither do links that are over.
  await database
    .update(doorLinks)
    .set({ expiresAt: Date.now() })
    .where(eq(doorLinks.id, body.guests[1]?.id ?? ''))
  expect((await bob.person.post(guests, { hours: 1 })).status).toBe(201)
  expect(await bob.person.post(guests, { hours: 1 })).toMatchObject(refused)
})

test('an owner who tries a guest’s link stays the owner, and a picture of another page opens nothing', async () => {
  const made = await ada.person.post(`/api/v1/servers/${ada.server.id}/guests`, { hours: 1 })
  const tried = await ask(made.body.guest.url, { ...OPENS, cookie })
  expect([tried.status, tried.headers.location, tried.headers['set-cookie']]).toEqual([302, '/', undefined])
  const picture = { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' }
  expect((await ask(made.body.guest.url, picture)).status).toBe(405)
  const { body } = await ada.person.get<{ guests: { id: string; uses: number }[] }>(
    `/api/v1/servers/${ada.server.id}/guests`,
  )
  expect(body.guests.find(({ id }) => id === made.body.guest.id)?.uses).toBe(0)
})

test('opening the simulator counts as use of the sign-in', async () => {
  const seenAt = async () => {
    const rows = await database.select().from(signIns).where(eq(signIns.userId, ada.person.id))
    return Math.max(...rows.map(({ lastSeenAt }) => lastSeenAt))
  }
  const long = Date.now() - 23 * 3_600_000
  await database.update(signIns).set({ lastSeenAt: long }).where(eq(signIns.userId, ada.person.id))
  // For a moment, the door still knows of the last use.
  await waitFor(async () => {
    expect((await ask(url, { cookie, ...OPENS })).status).toBe(200)
    return (await seenAt()) > long
  })
})
