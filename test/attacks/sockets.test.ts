import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { WebSocket as RawSocket } from 'ws'
import { apiTokens, signIns } from '../../db/schema/accounts.ts'
import type { SignIn } from '../../src/domain/wire/accounts.ts'
import { Client, newPerson, PASSWORD, waitFor } from '../../testing/people/client.ts'
import { testDatabase } from '../../testing/stack/database.ts'

const url = inject('url')
const CABLE = `${url.replace('http', 'ws')}/cable`

type Frame = { type?: string; reason?: string; reconnect?: boolean; identifier?: string; message?: unknown }

/** A socket of this person's browser, and what it receives. */
async function connect(cookie: string, headers: Record<string, string> = {}) {
  const frames: Frame[] = []
  const socket = new WebSocket(CABLE, {
    protocols: ['actioncable-v1-json'],
    headers: { Origin: url, Cookie: cookie, ...headers },
  } as never)
  const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve()))
  socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data))))
  await Promise.race([new Promise((resolve) => socket.addEventListener('message', resolve)), closed])
  return { socket, frames, closed }
}

test('a socket whose sign-in ended unnoticed receives nothing afterwards', async () => {
  const ada = await newPerson(url)
  const elsewhere = new Client(url)
  await elsewhere.signIn(ada.email, PASSWORD)
  const [stale, fresh] = [await connect(ada.cookieHeader), await connect(elsewhere.cookieHeader)]
  const identifier = JSON.stringify({ channel: 'JobsChannel', user_id: ada.id })
  const heard = (frames: Frame[]) => frames.filter((frame) => frame.message && frame.type !== 'ping')
  for (const { socket, frames } of [stale, fresh]) {
    socket.send(JSON.stringify({ command: 'subscribe', identifier }))
    await waitFor(async () => frames.some((frame) => frame.type === 'confirm_subscription'))
  }
  const [current] = (await ada.get<{ sign_ins: SignIn[] }>('/api/v1/users/sign_ins')).body.sign_ins.filter(
    (s) => s.current,
  )
  await testDatabase()
    .update(signIns)
    .set({ revokedAt: Date.now() })
    .where(eq(signIns.id, current?.id ?? ''))

  await elsewhere.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => heard(fresh.frames).length > 0)
  await waitFor(async () => stale.frames.some((frame) => frame.type === 'disconnect'))
  expect(heard(stale.frames)).toEqual([])
  fresh.socket.close()
})

test('the twenty-first socket replaces a person’s first and tells it why', async () => {
  const person = await newPerson(url)
  const sockets: Awaited<ReturnType<typeof connect>>[] = []
  for (let i = 0; i < 21; i++) sockets.push(await connect(person.cookieHeader))
  const told = () => sockets[0]?.frames.filter((frame) => frame.type === 'disconnect')
  const why = { type: 'disconnect', reason: 'too_many_sockets', reconnect: false }
  await expect.poll(told).toEqual([why])
  for (const { frames } of sockets.slice(1)) expect(frames.some((frame) => frame.type === 'disconnect')).toBe(false)
  for (const { socket } of sockets) socket.close()
})

test('a program with a token needs no origin, hears its owner’s jobs, and is cut off when the token is revoked', async () => {
  const ada = await newPerson(url)
  const made = await ada.post('/api_tokens', { name: 'CI', scope: 'operate', current_password: PASSWORD })
  const headers = { Authorization: `Bearer ${made.body.token}` }
  const socket = new WebSocket(CABLE, { protocols: ['actioncable-v1-json'], headers } as never)
  const frames: Frame[] = []
  socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data))))
  const says = (type: string) => waitFor(async () => frames.find((frame) => frame.type === type))
  await says('welcome')
  const who = await fetch(`${url}/api/v1/users/get_session`, { headers })
  const { Body } = (await who.json()) as { Body: { id: string } }
  socket.send(
    JSON.stringify({ command: 'subscribe', identifier: JSON.stringify({ channel: 'JobsChannel', user_id: Body.id }) }),
  )
  await says('confirm_subscription')

  const started = await fetch(`${url}/api/v1/aws/auto_cloud_start_request`, { method: 'POST', headers })
  expect(started.status).toBe(202)
  await waitFor(async () => frames.find((frame) => frame.message && !frame.type))
  await ada.request('DELETE', '/api/v1/users/sign_ins')
  await ada.signIn(ada.email, PASSWORD)
  expect(frames.some((frame) => frame.type === 'disconnect')).toBe(false)
  await ada.request('DELETE', `/api_tokens/${made.body.id}`)
  expect(await says('disconnect')).toEqual({ type: 'disconnect', reason: 'remote', reconnect: false })
})

test('refuses a socket to a token that is not valid, whatever cookie comes with it', async () => {
  const person = await newPerson(url)
  const { frames, closed } = await connect(person.cookieHeader, { Authorization: 'Bearer pg_forged' })
  await closed
  expect(frames).toEqual([{ type: 'disconnect', reason: 'unauthorized', reconnect: false }])
})

test('a socket whose token was revoked unnoticed receives nothing afterwards', async () => {
  const ada = await newPerson(url)
  const made = await ada.post('/api_tokens', { name: 'CI', scope: 'read', current_password: PASSWORD })
  const stale = await connect('', { Authorization: `Bearer ${made.body.token}` })
  stale.socket.send(
    JSON.stringify({ command: 'subscribe', identifier: JSON.stringify({ channel: 'JobsChannel', user_id: ada.id }) }),
  )
  await waitFor(async () => stale.frames.some((frame) => frame.type === 'confirm_subscription'))
  await testDatabase().update(apiTokens).set({ revokedAt: Date.now() }).where(eq(apiTokens.id, made.body.id))
  await ada.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => stale.frames.some((frame) => frame.type === 'disconnect'))
  expect(stale.frames.filter((frame) => frame.message && frame.type !== 'ping')).toEqual([])
})

test.each([0, 999, 1004, 1005, 1015, 5000])(
  'a socket that closes with %i, which nobody may send, ends',
  async (code) => {
    const person = await newPerson(url)
    const socket = new RawSocket(CABLE, ['actioncable-v1-json'], {
      headers: { Origin: url, Cookie: person.cookieHeader },
    })
    const closed = new Promise((resolve) => socket.on('close', resolve))
    await new Promise((resolve) => socket.on('message', resolve))
    // A close frame with a mask of zeros, as our library refuses to send it.
    const raw = (socket as unknown as { _socket: NodeJS.WritableStream })._socket
    raw.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, code >> 8, code & 255]))
    expect(await closed).toBeOneOf([1000, 1002])
  },
)
