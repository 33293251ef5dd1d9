import { expect, test } from 'vitest'
import { change, openSite, SITE } from '../support/site.ts'

const CANARY = 'xyzzy-buy-now'
const PASSWORD = 'a good long password'
const site = openSite()
const signUp = (email: string, name = 'Ada', headers: Record<string, string> = {}) =>
  site.request('/users', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: SITE, ...headers },
    body: JSON.stringify({
      user: { name, email, password: PASSWORD, password_confirmation: PASSWORD, terms_of_service: true },
    }),
  })
const newAddress = () => `${crypto.randomUUID()}@example.com`

/** All mails of these calls, each tried. */
async function mailsOf(calls: () => Promise<unknown>) {
  await site.settle()
  site.mails.length = 0
  await calls()
  await site.settle()
  return [...site.mails]
}

test('no word that a person typed goes into a mail to somebody else', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const email = newAddress()
  const mails = await mailsOf(async () => {
    await signUp(`${userId}@example.com`, `Ada ${CANARY}`)
    for (let i = 0; i < 2; i++) await signUp(email, `Ada ${CANARY}`, { 'User-Agent': CANARY })
    await change(site, 'POST', '/users/password', '', { user: { email, name: CANARY } })
    await change(site, 'POST', '/users/confirmation', '', { user: { email, name: CANARY } })
    const message = { name: CANARY, email: `${CANARY}@example.com`, source: 'Referral', message: CANARY }
    await change(site, 'POST', '/api/v1/contact_sales', '', message)
    await change(site, 'PUT', '/users', cookie, { user: { name: CANARY } })
    await change(site, 'POST', '/api/servers/request_more', cookie, { message: CANARY })
  })
  expect(mails.map(({ subject }) => subject).sort()).toEqual([
    'A customer asks for more servers',
    'A message to sales',
    'Choose a new password',
    'Confirm your email address',
    'Confirm your email address',
    'Confirm your email address',
    'You already have an account',
  ])
  expect(JSON.stringify(mails)).not.toContain(CANARY)
})

test('a mail has one recipient: what could mean two, or another header, is no address', async () => {
  const [victim, own] = [newAddress(), newAddress()]
  const mails = await mailsOf(async () => {
    for (const email of [
      `${own},${victim}`,
      `${own};${victim}`,
      `${own} ${victim}`,
      `${own}\r\nBcc: ${victim}`,
      `${own}\nSubject: ${CANARY}`,
      `${own}%0ABcc:${victim}`,
      `"${victim}"@example.com\r\n`,
      `Ada <${victim}>`,
      `<${victim}>`,
      `${own}\u0000${victim}`,
      `${own}\u2028${victim}`,
      [own, victim],
    ] as string[]) {
      const answers = [
        await signUp(email),
        await change(site, 'POST', '/users/password', '', { user: { email } }),
        await change(site, 'POST', '/users/confirmation', '', { user: { email } }),
        await change(site, 'POST', '/api/v1/contact_sales', '', { name: 'A', email, source: 'Referral', message: 'x' }),
      ]
      for (const { status } of answers) expect([400, 422], JSON.stringify(email)).toContain(status)
    }
  })
  expect(mails).toEqual([])
})

test("a mail's links lead to the configured site, whatever Host the request claims", async () => {
  const email = newAddress()
  const evil = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' }
  const mails = await mailsOf(async () => {
    expect((await signUp(email, 'Ada', evil)).status).toBe(201)
    const asked = await site.request('http://evil.example/users/password', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: SITE, ...evil },
      body: JSON.stringify({ user: { email } }),
    })
    expect(asked.status).toBe(200)
  })
  expect(mails).toHaveLength(2)
  for (const { text } of mails) {
    const links = text.match(/https?:\/\/[^/\s]+/g) ?? []
    expect(links.length).toBeGreaterThan(0)
    expect(new Set(links)).toEqual(new Set([SITE]))
  }
})
