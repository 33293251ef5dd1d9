import { eq, getTableColumns, getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import { apiTokens, signIns, users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { contactMessages } from '../../../../db/schema/operations.ts'
import { freeClosedAddresses } from '../../../../src/server/accounts/close-account.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { accountApp, accountContext } from '../../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { PASSWORD, signedInUser, signUpFields } from '../../../../testing/people/sign-up.ts'
import { readSchema } from '../../../../testing/stack/schema.ts'

async function setup() {
  const account = accountContext()
  const app = accountApp(account.ctx)
  const browser = openAppBrowser(app)
  const user = await signedInUser(browser, account)
  const signInElsewhere = async () => {
    const other = openAppBrowser(app)
    await other.open('/sign_in')
    await other.json('POST', '/users/sign_in', { user: { email: user.email, password: PASSWORD } })
    return other
  }
  const devices = async (b = browser) =>
    ((await (await b.request('/api/v1/users/sign_ins')).json()) as { sign_ins: { id: string; current: boolean }[] })
      .sign_ins
  return { ...account, account, app, browser, user, devices, signInElsewhere }
}

test('devices: lists them, signs out one, signs out all', async () => {
  const { browser, devices, signInElsewhere, disconnected } = await setup()
  const other = await signInElsewhere()
  const list = await devices()
  expect(list.map((device) => device.current).sort()).toEqual([false, true])
  const foreign = list.find((device) => !device.current)?.id
  expect((await browser.json('DELETE', `/api/v1/users/sign_ins/${foreign}`)).status).toBe(200)
  expect((await other.request('/api/v1/users/get_session')).status).toBe(401)
  expect(disconnected).toEqual([foreign])
  expect(await devices()).toHaveLength(1)
  const third = await signInElsewhere()
  expect((await browser.json('DELETE', '/api/v1/users/sign_ins')).status).toBe(200)
  for (const b of [browser, third]) expect((await b.request('/api/v1/users/get_session')).status).toBe(401)
})

test("exports my own data and nobody else's", async () => {
  const { browser, user } = await setup()
  const response = await browser.request('/api/v1/users/export')
  expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="proving-ground-data.json"')
  const text = await response.text()
  const data = JSON.parse(text)
  expect(data.user).toMatchObject({ id: user.id, email: user.email })
  expect(data.sign_ins).toHaveLength(1)
  expect(data.subscriptions).toMatchObject([{ plan_type: 'demo', status: 'trialing' }])
  expect(text).not.toMatch(/scrypt|password/i)
})

/** Where the download has the rows of each table that identifies a person. */
const EXPORTED: Record<string, string | null> = {
  sign_ins: 'sign_ins',
  refused_sign_ins: 'activity',
  api_tokens: 'api_tokens',
  // They point to jobs, and last a day.
  idempotency_keys: null,
  // What operators did, and why: nobody can change it, and it is ours.
  audit_log: null,
  // Hashes of links, which belong only in the mailbox.
  email_tokens: null,
  server_sessions: 'servers',
  jobs: 'jobs',
  subscriptions: 'subscriptions',
  checkouts: 'checkouts',
  billing_records: 'billings',
  plan_payments: 'billings',
  invoices: 'billings',
  outbox: 'mails',
  contact_messages: 'contact_messages',
  server_requests: 'server_requests',
  webhook_endpoints: 'webhooks',
  webhook_deliveries: 'webhook_deliveries',
  environments: 'environments',
  file_folders: 'files',
  file_removals: 'file_removals',
  line: 'line',
  line_group_people: 'line_groups',
  notices: 'notices',
  // They say how far we are with what the person asked of us, and go within days.
  file_uploads: null,
  // Nobody may read them back.
  secrets: null,
  // Their owner sees it under Activity.
  factor_removals: null,
  totps: 'second_factors',
  recovery_codes: 'second_factors',
  passkeys: 'second_factors',
  // They last ten minutes.
  sign_in_challenges: null,
  passkey_challenges: null,
}

test('the export leaves out no table that identifies a person', async () => {
  const { browser, user } = await setup()
  const data = await (await browser.request('/api/v1/users/export')).json()
  const personal = Object.values(await readSchema())
    .filter((table) => is(table, SQLiteTable))
    .filter((table) => {
      const columns = getTableColumns(table)
      return table !== users && ('userId' in columns || 'email' in columns || 'recipient' in columns)
    })
  expect(personal.map((table) => getTableName(table)).sort()).toEqual(Object.keys(EXPORTED).sort())
  for (const key of Object.values(EXPORTED)) if (key) expect(data).toHaveProperty(key)
  expect((data as { mails: unknown[] }).mails).toMatchObject([{ subject: 'Confirm your email address' }])
  expect(user.email).toBe((data as { user: { email: string } }).user.email)
})

test('closing the account: needs the password, stops the server, ends sign-ins, keeps the address for 30 days', async () => {
  const { browser, user, ctx, clock, sent, settle, signInElsewhere } = await setup()
  const [placeId, runId] = [newId('srv'), newId('ses')]
  await ctx.db.insert(places).values({ id: placeId, instanceType: 'g6.xlarge', availabilityZone: 'a', position: 1 })
  const run = { id: runId, userId: user.id, placeId, instanceType: 'g6.xlarge', requestedAt: clock.ms }
  await ctx.db.insert(runs).values(run)
  const other = await signInElsewhere()

  const token = { id: newId('tok'), hash: user.id, userId: user.id, name: 'CI', scope: 'read' } as const
  await ctx.db.insert(apiTokens).values({ ...token, createdAt: clock.ms, expiresAt: clock.ms })

  const group = { id: newId('grp'), name: 'Class', gpus: 1, places: 1, startsAt: 0, endsAt: clock.ms, madeAt: 0 }
  await ctx.db.insert(lineGroups).values(group)
  await ctx.db.insert(lineGroupPeople).values({ groupId: group.id, email: user.email, joinedAt: 0 })

  const close = (current_password: string) => browser.json('DELETE', '/users', { user: { current_password } })
  expect((await close('')).status).toBe(422)
  expect((await close('wrong one')).status).toBe(422)
  expect((await close(PASSWORD)).status).toBe(200)
  await settle()
  for (const b of [browser, other]) expect((await b.request('/api/v1/users/get_session')).status).toBe(401)
  const [stopped] = await ctx.db.select().from(runs).where(eq(runs.id, runId))
  expect(stopped?.stopRequestedAt).toBe(clock.ms)
  expect(await ctx.db.$count(lineGroupPeople)).toBe(0)
  const [due] = await ctx.db.select().from(users).where(eq(users.id, user.id))
  expect([due?.closedAt, (due?.billingDueAt ?? Infinity) <= clock.ms]).toEqual([clock.ms, true])
  expect(sent.at(-1)).toMatchObject({ to: user.email, subject: 'Your account is closed' })
  await browser.open('/sign_in')
  const back = await browser.json('POST', '/users/sign_in', { user: { email: user.email, password: PASSWORD } })
  expect(back.status).toBe(401)

  const signUp = () => browser.json('POST', '/users', { user: signUpFields(user.email) })
  const taken = () => ctx.db.$count(users, eq(users.email, user.email))
  await freeClosedAddresses(ctx)
  await signUp()
  expect(await ctx.db.select({ id: users.id }).from(users).where(eq(users.email, user.email))).toEqual([
    { id: user.id },
  ])
  clock.ms += 30 * 24 * 3_600_000 + 1
  const message = { id: newId('msg'), name: 'Ada', email: user.email, source: 'Referral', message: 'Hello' }
  await ctx.db.insert(contactMessages).values({ ...message, createdAt: clock.ms })
  const written = () =>
    Promise.all([
      ctx.db.$count(outbox, eq(outbox.recipient, user.email)),
      ctx.db.$count(contactMessages, eq(contactMessages.email, user.email)),
    ])
  expect((await written()).every((count) => count > 0)).toBe(true)
  await freeClosedAddresses(ctx)
  // The address may belong to someone else by now, who may export what is kept about it.
  expect(await written()).toEqual([0, 0])
  expect(await taken()).toBe(0)
  await signUp()
  expect(await taken()).toBe(1)
  const [closed] = await ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(closed).toMatchObject({ name: '', email: `closed:${user.id}` })
  expect(await ctx.db.$count(signIns, eq(signIns.userId, user.id))).toBe(0)
  expect(await ctx.db.$count(apiTokens, eq(apiTokens.userId, user.id))).toBe(0)
})

test("if an address changes hands, a closed account's link opens nothing", async () => {
  const { browser, account, user } = await setup()
  await browser.json('POST', '/users/password', { user: { email: user.email } })
  await account.settle()
  const token = /reset_password_token=([\w-]+)/.exec(account.sent.at(-1)?.text ?? '')?.[1]
  await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })
  await browser.open('/sign_in')
  const fields = { reset_password_token: token, password: 'something', password_confirmation: 'something' }
  expect((await browser.json('PUT', '/users/password', { user: fields })).status).toBe(422)
})

test('closing the account ends a plan with its period, so that nothing renews', async () => {
  const { browser, user, ctx } = await setup()
  await ctx.db.update(plans).set({ endedAt: ctx.now() }).where(eq(plans.userId, user.id))
  const plan = { id: newId('sub'), userId: user.id, planType: 'basic', subType: 'paid', status: 'active' } as const
  await ctx.db.insert(plans).values({ ...plan, anchor: ctx.now(), hours: 5, createdAt: ctx.now() })
  expect((await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })).status).toBe(200)
  const [ended] = await ctx.db.select().from(plans).where(eq(plans.id, plan.id))
  expect(ended?.cancelAtPeriodEnd).toBe(true)
})
