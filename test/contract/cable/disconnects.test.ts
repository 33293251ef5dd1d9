import { expect, inject, test } from 'vitest'
import { SEED_EMAILS, SEED_PASSWORD } from '../../../dev/seed.ts'
import { answered, jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { Client, newPerson, PASSWORD } from '../../../testing/people/client.ts'

const url = inject('url')
const REMOTE = '{"type":"disconnect","reason":"remote","reconnect":false}'
const UNAUTHORIZED = '{"type":"disconnect","reason":"unauthorized","reconnect":false}'

test.each([
  ['no cookie', ''],
  ['a forged cookie', 'sign_in=forged'],
  ['a token without a signature', 'sign_in=eyJhbGciOiJub25lIn0.e30.'],
])('%s gets unauthorized without reconnect, and no welcome', async (_, cookie) => {
  const cable = await openSocket(new Client(url), { Cookie: cookie })
  expect(await cable.closed()).toMatchObject({ code: 1000 })
  expect(cable.frames).toEqual([UNAUTHORIZED])
})

test('an ended sign-in gets unauthorized', async () => {
  const ada = await newPerson(url)
  const cookie = ada.cookieHeader
  await ada.request('DELETE', '/users/sign_out')
  const cable = await openSocket(ada, { Cookie: cookie })
  await cable.closed()
  expect(cable.frames).toEqual([UNAUTHORIZED])
})

/** Each ends the sign-in `here`. The person has another, `elsewhere`. */
const ENDINGS: [string, (here: Client, elsewhere: Client) => Promise<unknown>][] = [
  ['signing out', (here) => here.request('DELETE', '/users/sign_out')],
  [
    'a new password, set elsewhere',
    (_, elsewhere) => {
      const password = 'another good password'
      const user = { current_password: PASSWORD, password, password_confirmation: password }
      return elsewhere.request('PUT', '/users', { user })
    },
  ],
  [
    'removing the device',
    async (_, elsewhere) => {
      const { body } = await elsewhere.request('GET', '/api/v1/users/sign_ins')
      const other = body.sign_ins.find((signIn: { current: boolean }) => !signIn.current)
      return elsewhere.request('DELETE', `/api/v1/users/sign_ins/${other.id}`)
    },
  ],
]

test.each(ENDINGS)('%s closes only that sign-in’s sockets, as remote without reconnect', async (_, end) => {
  const here = await newPerson(url)
  const elsewhere = new Client(url)
  await elsewhere.signIn(here.email, PASSWORD)
  const [ended, lives] = [await openSocket(here), await openSocket(elsewhere)]
  ended.subscribe(jobsChannel(here.id))
  await answered(ended, here.id)
  expect(((await end(here, elsewhere)) as { status: number }).status).toBe(200)
  await ended.closing()
  expect(ended.said().at(-1)).toBe(REMOTE)
  await answered(lives, here.id)
  expect(lives.isClosed()).toBe(false)
  lives.socket.close()
})

test('a copy of a cookie that a new password renewed gets no more news', async () => {
  const here = await newPerson(url)
  const copy = await openSocket(here)
  copy.subscribe(jobsChannel(here.id))
  await answered(copy, here.id)
  const password = 'another good password'
  const user = { current_password: PASSWORD, password, password_confirmation: password }
  expect((await here.request('PUT', '/users', { user })).status).toBe(200)
  const heard = copy.said().length
  const admin = new Client(url)
  await admin.signIn(SEED_EMAILS.admin, SEED_PASSWORD)
  await admin.open('/console')
  const why = { reason: 'They asked us to.', confirmed: true }
  expect((await admin.post(`/admin/people/${here.id}/suspend`, why)).status).toBe(200)
  await copy.closing()
  expect(copy.said().slice(heard)).toEqual(['{"type":"disconnect","reason":"server_restart","reconnect":true}'])
})

test('signing out everywhere or closing the account closes every socket', async () => {
  for (const [path, body] of [
    ['/api/v1/users/sign_ins', undefined],
    ['/users', { user: { current_password: PASSWORD } }],
  ] as const) {
    const here = await newPerson(url)
    const elsewhere = new Client(url)
    await elsewhere.signIn(here.email, PASSWORD)
    const sockets = [await openSocket(here), await openSocket(elsewhere)]
    expect((await here.request('DELETE', path, body)).status).toBe(200)
    for (const cable of sockets) {
      await cable.closing()
      expect(cable.said().at(-1)).toBe(REMOTE)
    }
  }
})
