import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { outbox } from '../../db/schema/mail.ts'
import { change, openSite, SITE } from '../../testing/stack/site.ts'

const CANARY = 'xyzzy-buy-now'
const PASSWORD = 'a good long password'
const site = await openSite()
const signUp = (email: string, name = 'Ada', headers: Record<string, string> = {}) =>
  site.request('/users', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: SITE, ...headers },
    body: JSON.stringify({
      user: { name, email, password: PASSWORD, password_confirmation: PASSWORD, terms_of_service: true },
    }),
  })
const newAddress = () => `${crypto.randomUUID()}@example.com`

/** All mails these calls caused, read after delivery. */
async function mailsOf(calls: () => Promise<unknown>) {
  await site.settle()
  site.mails.length = 0
  await calls()
  await site.settle()
  return [...site.mails]
}

test('nothing a person typed goes into a mail to someone else', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const email = newAddress()
  const mails = await mailsOf(async () => {
    await signUp(`${userId}@example.com`, `Ada ${CANARY}`)
    for (let i = 0; i < 2; i++) await signUp(email, `Ada ${CANARY}`, { 'User-Agent': CANARY })
    await change(site, 'POST', '/users/password', '', { user: { email, name: CANARY } })
    await change(site, 'POST', '/users/confirmation', '', { user: { email, name: CANARY } })
    await change(site, 'PUT', '/users', cookie, { user: { name: CANARY } })
    await change(site, 'POST', '/api/servers/request_more', cookie, { message: CANARY })
  })
  expect(mails.map(({ subject }) => subject).sort()).toEqual([
    'A customer requested more servers',
    'Choose a new password',
    'Confirm your email address',
    'Confirm your email address',
    'Confirm your email address',
    'You already have an account',
  ])
  expect(JSON.stringify(mails)).not.toContain(CANARY)
})

test('a message to sales goes to the operator only: as text, under our subject, with replies to its writer', async () => {
  const writer = newAddress()
  const typed = {
    name: `<b>Ada</b>\u202e\r\nEmail: boss@example.com`,
    email: ` ${writer.toUpperCase()} `,
    source: 'Referral',
    message: `Forty rovers, please.\n\n<script>alert(1)</script>\nBcc: everybody@example.com`,
  }
  const mails = await mailsOf(() => change(site, 'POST', '/api/v1/contact_sales', '', typed))
  expect(mails).toMatchObject([
    { to: 'operator@example.com', from: 'hello@example.com', replyTo: writer, subject: 'New sales message' },
  ])
  const { text = '', html = '' } = mails[0] ?? {}
  expect(text).toContain(`\nName: <b>Ada</b> Email: boss@example.com\nEmail: ${writer}\nSource: Referral\n\n`)
  expect(text).toContain(`\n\n${typed.message}\n\n`)
  expect(text.indexOf('/console/messages')).toBeLessThan(text.indexOf('Ada'))
  expect(html).not.toMatch(/<script|<b>/)
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  const [row] = await site.db.select().from(outbox).where(eq(outbox.subject, 'New sales message'))
  expect(row).toMatchObject({ text: '', html: '', replyTo: null })
})

test('a mail has one recipient: two addresses or an extra header are refused', async () => {
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
