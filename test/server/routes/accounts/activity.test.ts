import { and, eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { apiTokens, refusedSignIns, signInChallenges, signIns, users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { auditLog } from '../../../../db/schema/operations.ts'
import { listActivity } from '../../../../src/server/accounts/activity.ts'
import { forgetTraces } from '../../../../src/server/accounts/retention.ts'
import { runCron } from '../../../../src/server/cron.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { addAuthenticator } from '../../../../testing/people/authenticator.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MINUTE = 60_000
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

async function setup() {
  const account = openAccount()
  const { ctx, clock, app, browser } = account
  const user = await signedInUser(browser, account)
  const signIn = async (
    from = openAppBrowser(app),
    { password = PASSWORD, email = user.email, userAgent = FIREFOX, address = '203.0.113.7' } = {},
  ) => {
    await from.open('/sign_in')
    const response = await from.request('/users/sign_in', {
      method: 'POST',
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        'Content-Type': 'application/json',
        'X-CSRF-Token': from.token(),
        'User-Agent': userAgent,
        'CF-Connecting-IP': address,
      },
      body: JSON.stringify({ user: { email, password } }),
    })
    await account.settle()
    return { browser: from, status: response.status, body: await response.json() }
  }
  const newBrowserMails = async () => {
    await account.settle()
    return account.sent.filter(({ to, subject }) => to === user.email && subject === 'New browser signed in')
  }
  const page = async (of = browser, path = '/activity') => {
    const html = await (await of.request(path)).text()
    return html.replaceAll('<!-- -->', '')
  }
  const whats = async (of = browser) => {
    const data = await (await of.request('/api/v1/users/export')).json()
    return (data.activity as { what: string; detail: string | null }[]).map(({ what, detail }) =>
      detail ? `${what} (${detail})` : what,
    )
  }
  return { ...account, ctx, clock, user, signIn, newBrowserMails, page, whats }
}

test('emails the owner about a sign-in from a new browser, and about no other', async () => {
  const { ctx, browser, signIn, newBrowserMails, user, page } = await setup()
  // Right after signing up, everyone's browser is new.
  expect(await newBrowserMails()).toEqual([])
  await browser.json('DELETE', '/users/sign_out')
  expect((await signIn(browser)).status).toBe(200)
  expect(await newBrowserMails()).toEqual([])
  expect((await signIn(undefined, { password: 'wrong one' })).status).toBe(401)
  expect(await newBrowserMails()).toEqual([])
  const other = await signIn()
  expect(other.status).toBe(200)
  const [mail, ...more] = await newBrowserMails()
  expect(more).toEqual([])
  expect(mail?.to).toBe(user.email)
  expect(mail?.text).toContain('Firefox on Linux, from the address 203.0.113.7, on ')
  await other.browser.json('DELETE', '/users/sign_out')
  expect((await signIn(other.browser)).status).toBe(200)
  // Nor once its password's hash is renewed.
  ctx.config.passwordPepper = `new,${ctx.config.passwordPepper}`
  for (let i = 0; i < 2; i++) {
    await other.browser.json('DELETE', '/users/sign_out')
    expect((await signIn(other.browser)).status).toBe(200)
  }
  expect(await newBrowserMails()).toHaveLength(1)
  const html = await page()
  expect(html.match(/New browser/g)).toHaveLength(2)
})

test('says nothing in that email that a stranger typed', async () => {
  const { signIn, newBrowserMails } = await setup()
  await signIn(undefined, { userAgent: 'Visit https://evil.example now' })
  const [mail] = await newBrowserMails()
  expect(mail?.text).toContain('Unknown device')
  expect(`${mail?.text}${mail?.html}`).not.toContain('evil')
})

test('emails about a new browser after a long absence, when no earlier sign-in is left', async () => {
  const { ctx, user, signIn, newBrowserMails, clock } = await setup()
  await ctx.db.delete(signIns).where(eq(signIns.userId, user.id))
  clock.ms += DAY - 1
  await signIn()
  expect(await newBrowserMails()).toEqual([])
  await ctx.db.delete(signIns).where(eq(signIns.userId, user.id))
  clock.ms += 2
  await signIn()
  expect(await newBrowserMails()).toHaveLength(1)
})

test('sends at most three such emails a day', async () => {
  const { signIn, newBrowserMails, clock } = await setup()
  for (let i = 0; i < 5; i++) expect((await signIn()).status).toBe(200)
  expect(await newBrowserMails()).toHaveLength(3)
  clock.ms += DAY - 1
  await signIn()
  expect(await newBrowserMails()).toHaveLength(3)
  clock.ms += 1
  await signIn()
  expect(await newBrowserMails()).toHaveLength(4)
})

test('a new browser that needs a second factor is told of once it is in', async () => {
  const { ctx, browser, signIn, newBrowserMails, clock } = await setup()
  const app = await addAuthenticator(browser, PASSWORD, ctx.now)
  clock.ms += 30_000
  const other = await signIn()
  expect(other.body.code).toBe('second_factor_required')
  expect(await newBrowserMails()).toEqual([])
  const { challenge } = other.body
  const answer = (totp: string) => other.browser.json('POST', '/users/sign_in/second_factor', { challenge, totp })
  expect((await answer('000000')).status).toBe(401)
  expect((await answer(app.code())).status).toBe(200)
  expect(await newBrowserMails()).toHaveLength(1)
})

test('counts refused sign-ins by the hour, for the account only, and shows them since the last visit', async () => {
  const { ctx, user, signIn, page, whats, clock, browser, settle } = await setup()
  clock.ms += HOUR - (clock.ms % HOUR)
  for (let i = 0; i < 2; i++) await signIn(undefined, { password: 'wrong one', address: `203.0.113.${i}` })
  await signIn(undefined, { password: 'wrong one', email: 'nobody@example.com' })
  await signIn(undefined, { password: 'wrong one', email: user.email.toUpperCase() })
  const rows = () => ctx.db.select().from(refusedSignIns).where(eq(refusedSignIns.userId, user.id))
  expect(await rows()).toMatchObject([
    { userId: user.id, wrong: 'password', count: 3, lastAt: clock.ms, hour: clock.ms, userAgent: FIREFOX },
  ])
  expect(await page()).toContain('3 sign-ins were refused since your last visit.')
  expect(await whats()).toContain('Sign-in refused, 3 times in an hour (Wrong password)')
  clock.ms += HOUR
  await browser.json('DELETE', '/users/sign_out')
  await signIn(browser)
  // What was refused before this person was last here isn't news; the list still has it.
  clock.ms += HOUR
  await browser.json('DELETE', '/users/sign_out')
  await signIn(browser)
  expect(await page()).not.toContain('since your last visit')
  expect(await page()).toContain('Sign-in refused, 3 times in an hour')
  clock.ms += 1
  await signIn(undefined, { password: 'wrong one' })
  expect(await page()).toContain('1 sign-in was refused since your last visit.')
  await settle()
  expect(await rows()).toHaveLength(2)
})

test('says who had the right password and failed at the code', async () => {
  const { ctx, browser, signIn, page, clock, settle } = await setup()
  await addAuthenticator(browser, PASSWORD, ctx.now)
  clock.ms += 30_000
  const thief = await signIn()
  for (const recovery of ['wrong', 'wrong too'])
    await thief.browser.json('POST', '/users/sign_in/second_factor', { challenge: thief.body.challenge, recovery })
  await signIn(undefined, { password: 'wrong one' })
  await settle()
  const html = await page()
  expect(html).toContain('3 sign-ins were refused since your last visit. 2 of them had the right password.')
  expect(html).toContain('The password was right, but the code or passkey was wrong')
})

test('tells of sign-ins that stop at the second step, by email once a day for each network', async () => {
  const { ctx, user, browser, signIn, page, clock, settle, sent, app: account } = await setup()
  const app = await addAuthenticator(browser, PASSWORD, ctx.now)
  // A whole day lies ahead, and whole hours.
  clock.ms += DAY - (clock.ms % DAY)
  const stop = async (address: string, from = openAppBrowser(account)) => {
    const { body } = await signIn(from, { address })
    expect(body.code).toBe('second_factor_required')
    return { from, challenge: body.challenge as string }
  }
  const answer = ({ from, challenge }: Awaited<ReturnType<typeof stop>>, given: object) =>
    from.json('POST', '/users/sign_in/second_factor', { challenge, ...given })
  const mails = async () => {
    await runCron(ctx, '1-59 * * * *')
    await settle()
    return sent.filter(({ to, subject }) => to === user.email && subject === 'Someone typed your password')
  }
  const first = await stop('203.0.113.7')
  clock.ms += 10 * MINUTE - 1
  expect(await mails()).toEqual([])
  expect((await answer(first, { totp: '000000' })).status).toBe(401)
  const own = await stop('198.51.100.8', browser)
  clock.ms += 1
  // A wrong code has its own line already.
  const [mail] = await mails()
  expect(await mails()).toHaveLength(1)
  expect(mail?.text).toContain('Firefox on Linux, from the address 203.0.113.7, on ')
  expect((await answer(first, { totp: app.code() })).status).toBe(401)
  expect(await page()).not.toContain('the second step was never finished')
  // What a browser began before it was in, and what a known one leaves, is nothing to write about.
  await stop('198.51.100.9', own.from)
  expect((await answer(own, { totp: app.code() })).status).toBe(200)
  await stop('198.51.100.10', own.from)
  await stop('203.0.113.200')
  clock.ms += HOUR
  // Two runs at once tell of each once.
  await Promise.all([mails(), mails()])
  expect(await mails()).toHaveLength(1)
  expect(await page()).toContain('The password was right, but the second step was never finished')
  const counts = async () =>
    (await ctx.db.select().from(refusedSignIns).where(eq(refusedSignIns.userId, user.id))).map(
      ({ wrong, count, address }) => `${wrong} ${count} ${address}`,
    )
  expect(await counts()).toEqual(['answer 2 203.0.113.200', expect.stringMatching(/^code 1 /)])
  expect(await page()).toContain('2 sign-ins were refused since your last visit. Each had the right password.')
  // Three networks more, and the next day.
  for (const address of ['198.51.100.1', '192.0.2.1', '192.0.3.1']) await stop(address)
  clock.ms += HOUR
  expect(await mails()).toHaveLength(3)
  expect(await page()).toContain('Sign-in refused, 3 times in an hour')
  clock.ms += DAY
  await stop('203.0.113.7')
  clock.ms += HOUR
  expect(await mails()).toHaveLength(4)
})

test('nobody else waits for one of these that fails, or for how many someone has', async () => {
  const { ctx, user, sent, settle } = await setup()
  const [ada] = await ctx.db.select().from(users).where(eq(users.id, user.id))
  if (!ada) throw new Error('Nobody signed up')
  await ctx.db.insert(users).values({ ...ada, id: 'user_eve', email: 'eve@example.com' })
  const stopped = { browser: 'x', newBrowser: true, expiresAt: ctx.now() }
  const before = Array.from({ length: 60 }, (_, n) => ({
    ...stopped,
    hash: `eve ${n}`,
    userId: 'user_eve',
    expiresAt: n,
  }))
  await ctx.db.insert(signInChallenges).values([...before, { ...stopped, hash: 'ada', userId: user.id }])
  await ctx.db.run(sql`CREATE TRIGGER fails BEFORE DELETE ON sign_in_challenges WHEN old.hash = 'eve 0'
    BEGIN SELECT RAISE(ABORT, 'no'); END`)
  const fails: unknown[] = []
  const log = (event: string) => fails.push(event)
  await runCron({ ...ctx, log }, '1-59 * * * *')
  await settle()
  await ctx.db.run(sql`DROP TRIGGER fails`)
  expect(sent.filter(({ to, subject }) => to === user.email && subject === 'Someone typed your password')).toHaveLength(
    1,
  )
  expect(await ctx.db.$count(signInChallenges)).toBe(12)
  expect(fails).toContain('cron_task_failed')
})

test('lists what happened, newest first, and nothing of anyone else', async () => {
  const { ctx, user, browser, page, whats, clock, signIn, account, app } = await setup()
  const other = openAppBrowser(app)
  const eve = await signedInUser(other, account)
  const step = () => {
    clock.ms += 60_000
  }
  step()
  const token = await browser.json('POST', '/api_tokens', {
    name: 'CI',
    scope: 'read',
    days: 1,
    current_password: PASSWORD,
  })
  step()
  await browser.json('DELETE', `/api_tokens/${(await token.json()).id}`)
  step()
  await addAuthenticator(browser, PASSWORD, ctx.now)
  step()
  const act = { id: 'act_1', actor: 'usr_admin', subject: user.id, userId: user.id, reason: 'Our own words' }
  await ctx.db.insert(auditLog).values({ ...act, at: clock.ms, act: 'suspend' })
  await ctx.db.insert(auditLog).values({ ...act, id: 'act_2', at: clock.ms, act: 'end_instance_failed' })
  step()
  const plan = { id: 'sub_1', userId: user.id, planType: 'premium', subType: 'paid', status: 'canceled' } as const
  const times = { anchor: 0, createdAt: clock.ms - 5, upgradedAt: clock.ms, endedAt: clock.ms + 5 }
  await ctx.db.insert(plans).values({ ...plan, ...times, upgradedFrom: 'basic' })
  clock.ms += 10
  expect((await whats()).slice(0, 10)).toEqual([
    'Premium plan ended',
    'Upgraded to Premium (From Basic)',
    'Premium plan began',
    'We suspended your account',
    'Authenticator app added',
    'API token revoked (CI)',
    'API token created (CI: may read)',
    'Signed in (New browser)',
    'Free trial began',
  ])
  const html = await page()
  expect(html).toContain('Premium plan ended')
  expect(html).not.toContain('Our own words')
  expect(await whats(other)).toEqual(['Signed in (New browser)', 'Free trial began'])
  expect((await signIn(undefined, { email: eve.email })).status).toBe(200)
  expect(await whats(other)).toHaveLength(3)
})

test('pages through all of it, and drops what is older than 90 days', async () => {
  const { ctx, user, page, browser, clock } = await setup()
  const made = { userId: user.id, scope: 'read', expiresAt: clock.ms + 365 * DAY } as const
  const tokens = Array.from({ length: 120 }, (_, i) => ({ ...made, id: `tok_${i}`, hash: `h${i}`, name: `n${i}` }))
  // Many at the same instant.
  await ctx.db.insert(apiTokens).values(tokens.map((token) => ({ ...token, createdAt: clock.ms })))
  const seen: string[] = []
  let path = '/activity'
  for (let i = 0; i < 5 && path; i++) {
    const html = await page(browser, path)
    seen.push(...[...html.matchAll(/>(n\d+): may read/g)].map(([, name]) => name ?? ''))
    path = /href="(\/activity\?before=[^"]+)"/.exec(html)?.[1] ?? ''
  }
  expect(path).toBe('')
  // An address that somebody made up shows the first page.
  expect(await page(browser, `/activity?before=${'9'.repeat(400)}_x`)).toContain('>n99: may read')
  expect(seen.toSorted()).toEqual(tokens.map(({ name }) => name).toSorted())
  clock.ms += 90 * DAY
  expect((await listActivity(ctx, user, null, 200)).lines).toHaveLength(122)
  clock.ms += 1
  expect(await listActivity(ctx, user, null)).toEqual({ lines: [], older: null })
})

test('goes with time and with the account', async () => {
  const { ctx, user, signIn, browser, clock, settle } = await setup()
  await signIn(undefined, { password: 'wrong one' })
  const count = () => ctx.db.$count(refusedSignIns, eq(refusedSignIns.userId, user.id))
  clock.ms += 90 * DAY - HOUR
  await forgetTraces(ctx)
  expect(await count()).toBe(1)
  clock.ms += 2 * HOUR
  await forgetTraces(ctx)
  expect(await count()).toBe(0)
  await signIn(undefined, { password: 'wrong one' })
  expect(await count()).toBe(1)
  await signIn(browser)
  expect((await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })).status).toBe(200)
  await settle()
  await signIn(undefined, { password: 'wrong one' })
  expect(await count()).toBe(0)
  const [row] = await ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(row?.closedAt).toBe(clock.ms)
  const told = and(eq(outbox.recipient, user.email), eq(outbox.act, 'new_browser'))
  expect(await ctx.db.$count(outbox, told)).toBe(0)
})
