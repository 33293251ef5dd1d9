import { expect, inject, test } from 'vitest'
import { type Client, newPerson } from '../support/client.ts'

const url = inject('url')
const CABLE = `${url.replace('http', 'ws')}/cable`

type Frame = { type?: string; reason?: string; reconnect?: boolean; identifier?: string }

/** A socket of this person's browser, and what it hears. */
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

const endings: [string, (person: Client) => Promise<unknown>][] = [
  ['signing out', (person) => person.request('DELETE', '/users/sign_out')],
  ['signing out everywhere', (person) => person.request('DELETE', '/api/v1/users/sign_ins')],
]

test.each(endings)('%s ends the socket, and says why', async (_, end) => {
  const person = await newPerson(url)
  const { socket, frames } = await connect(person.cookieHeader)
  expect(frames[0]).toEqual({ type: 'welcome' })
  const told = new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
  await end(person)
  await told
  expect(frames.at(-1)).toEqual({ type: 'disconnect', reason: 'remote', reconnect: false })
})

test('without a sign-in, and with one that ended, the socket is refused in words that clients understand', async () => {
  const person = await newPerson(url)
  const cookie = person.cookieHeader
  await person.request('DELETE', '/users/sign_out')
  for (const value of ['', cookie, 'sign_in=forged']) {
    const { frames, closed } = await connect(value)
    await closed
    expect(frames).toEqual([{ type: 'disconnect', reason: 'unauthorized', reconnect: false }])
  }
})

test('another origin does not get a socket', async () => {
  const person = await newPerson(url)
  for (const origin of ['https://evil.example', `${url}.evil.example`, url.replace('http:', 'https:'), 'null']) {
    const { frames, closed } = await connect(person.cookieHeader, { Origin: origin })
    await closed
    expect(frames, origin).toEqual([])
  }
})

test("somebody else's channel is refused, and one's own still works", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const { socket, frames } = await connect(eve.cookieHeader)
  const subscribe = (user_id: string) => {
    const identifier = JSON.stringify({ channel: 'JobsChannel', user_id })
    socket.send(JSON.stringify({ command: 'subscribe', identifier }))
    return identifier
  }
  const [foreign, own] = [subscribe(ada.id), subscribe(eve.id)]
  const answered = () => frames.filter((frame) => frame.identifier)
  while (answered().length < 2)
    await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
  expect(answered().slice(0, 2)).toEqual([
    { type: 'reject_subscription', identifier: foreign },
    { type: 'confirm_subscription', identifier: own },
  ])
  socket.close()
})
