import { desc, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { factorRemovals, recoveryCodes, totps, users } from '../../../db/schema/accounts.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import { removeLostFactors } from '../../../src/server/operations/lost-factors.ts'
import { openAppBrowser } from '../../../testing/people/app-browser.ts'
import { addAuthenticator } from '../../../testing/people/authenticator.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const DAY = 86_400_000

async function setup() {
  const account = openAccount()
  const { ctx, clock, app, browser } = account
  const owner = await signedInUser(browser, account)
  const factor = await addAuthenticator(browser, PASSWORD, ctx.now)
  clock.ms += 30_000
  const desk = openAppBrowser(app)
  const admin = await signedInUser(desk, account)
  await ctx.db.update(users).set({ admin: true }).where(eq(users.id, admin.id))
  const act = async (
    what: 'no_factor' | 'keep_factor',
    id = owner.id,
    why: object = { reason: 'Lost', confirmed: true },
  ) => {
    const response = await desk.json('POST', `/admin/people/${id}/${what}`, why)
    return { status: response.status, body: await response.json() }
  }
  const signIn = async () => {
    const own = openAppBrowser(app)
    await own.open('/sign_in')
    const response = await own.json('POST', '/users/sign_in', { user: { email: owner.email, password: PASSWORD } })
    return { own, status: response.status, body: await response.json() }
  }
  const mails = async () => {
    await account.settle()
    return account.sent.filter(({ to }) => to === owner.email).map(({ subject }) => subject)
  }
  const acts = async () => {
    const rows = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, owner.id)).orderBy(desc(auditLog.at))
    return rows.map(({ act, actor, reason }) => [act, actor, reason])
  }
  const has = () => ctx.db.$count(totps, eq(totps.userId, owner.id))
  const asked = () => ctx.db.$count(factorRemovals, eq(factorRemovals.userId, owner.id))
  return { ...account, owner, admin, desk, factor, act, signIn, mails, acts, has, asked }
}

test('removes a lost factor a day after an operator decided it, with two mails and two records', async () => {
  const { act, acts, admin, owner, ctx, clock, mails, has, asked, signIn } = await setup()
  expect((await act('no_factor', owner.id, { reason: ' ', confirmed: true })).status).toBe(422)
  expect((await act('no_factor', owner.id, { reason: 'Lost', confirmed: false })).status).toBe(422)
  expect(await asked()).toBe(0)
  expect((await act('no_factor')).status).toBe(200)
  expect((await act('no_factor')).body.code).toBe('conflict')
  expect(await mails()).toContain('We will remove your second factor')
  expect(await acts()).toEqual([['ask_no_factor', admin.id, 'Lost']])
  clock.ms += DAY - 1
  await removeLostFactors(ctx)
  expect([await has(), await asked()]).toEqual([1, 1])
  clock.ms += 1
  await Promise.all([removeLostFactors(ctx), removeLostFactors(ctx)])
  await removeLostFactors(ctx)
  expect([await has(), await asked()]).toEqual([0, 0])
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, owner.id))).toBe(0)
  expect(await acts()).toEqual([
    ['remove_factors', admin.id, 'Lost'],
    ['ask_no_factor', admin.id, 'Lost'],
  ])
  const cronMails = await ctx.db.$client.execute({
    sql: 'SELECT count(*) AS n FROM outbox WHERE recipient = ? AND subject = ?',
    args: [owner.email, 'Your second factor was removed'],
  })
  expect(Number(cronMails.rows[0]?.n)).toBe(1)
  expect((await signIn()).status).toBe(200)
})

test('an owner who still has it keeps it, by signing in with it', async () => {
  const { act, signIn, factor, clock, ctx, has, asked, mails, acts, owner } = await setup()
  await act('no_factor')
  const first = await signIn()
  const answer = (totp: string) =>
    first.own.json('POST', '/users/sign_in/second_factor', { challenge: first.body.challenge, totp })
  // The password alone, and a wrong code, keep nothing.
  expect((await answer('000000')).status).toBe(401)
  expect(await asked()).toBe(1)
  expect((await answer(factor.code())).status).toBe(200)
  expect(await asked()).toBe(0)
  expect(await mails()).toContain('Your second factor stays')
  expect((await acts()).map(([name, actor]) => [name, actor])).toContainEqual(['keep_factor', owner.id])
  clock.ms += 2 * DAY
  await removeLostFactors(ctx)
  expect(await has()).toBe(1)
})

test('an owner who is signed in keeps it with a button, and so does an operator', async () => {
  const { act, browser, asked, mails, desk, admin, owner } = await setup()
  expect((await browser.json('POST', '/account_security/keep')).status).toBe(409)
  expect((await act('keep_factor')).status).toBe(409)
  await act('no_factor')
  const page = await (await browser.request('/account_security')).text()
  expect(page).toContain('Someone told us that your second factor is lost.')
  await browser.open('/account_security')
  // Nobody else's.
  expect((await desk.json('POST', '/account_security/keep')).status).toBe(409)
  expect(await asked()).toBe(1)
  const kept = await browser.form('/account_security/keep', {})
  expect([kept.status, kept.headers.get('Location')]).toEqual([303, '/account_security'])
  expect(await asked()).toBe(0)
  await act('no_factor')
  expect(await (await desk.request(`/admin/people/${owner.id}`)).text()).toContain('Keep their second factor')
  expect((await act('keep_factor')).status).toBe(200)
  expect(await asked()).toBe(0)
  expect((await mails()).filter((subject) => subject === 'Your second factor stays')).toHaveLength(2)
  expect((await act('no_factor', admin.id)).status).toBe(403)
})

test('a factor that its owner added since is not the lost one', async () => {
  const { act, browser, factor, asked, has, ctx, clock } = await setup()
  await act('no_factor')
  const proof = { current_password: PASSWORD, totp: factor.code() }
  expect((await browser.json('DELETE', '/account_security/totp', proof)).status).toBe(200)
  expect(await asked()).toBe(0)
  await addAuthenticator(browser, PASSWORD, ctx.now)
  clock.ms += 2 * DAY
  await removeLostFactors(ctx)
  expect(await has()).toBe(1)
})
