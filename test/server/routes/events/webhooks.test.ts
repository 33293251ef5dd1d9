import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { webhookDeliveries, webhooks } from '../../../../db/schema/events.ts'
import {
  SENT_AGAIN,
  TEST_SENT,
  TOO_MANY_SECRETS,
  TOO_MANY_WEBHOOKS,
  URL_TAKEN,
  WEBHOOK_DELETED,
  WEBHOOK_OFF,
  WEBHOOK_ON,
} from '../../../../src/domain/webhook.ts'
import type { Webhook } from '../../../../src/domain/wire/events.ts'
import { liveSecrets, openSecret } from '../../../../src/server/events/secrets.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const HOOK = { url: 'https://example.com/hooks#x', events: ['server.running'], current_password: PASSWORD }
const FIELDS = { url: HOOK.url, 'events[server.running]': 'on', current_password: PASSWORD }

async function setup() {
  const account = openAccount()
  const user = await signedInUser(account.browser, account)
  const make = (fields: object = {}) => account.browser.json('POST', '/webhooks', { ...HOOK, ...fields })
  const added = async () => (await (await make()).json()) as Webhook & { secret: string }
  const rowOf = async (id: string) => (await account.ctx.db.select().from(webhooks).where(eq(webhooks.id, id)))[0]
  const told = (id: string) =>
    account.ctx.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id))
  return { ...account, user, make, added, rowOf, told }
}

test('adds a webhook, shows its secret once, and emails its owner, without the URL', async () => {
  const { make, clock, ctx, rowOf, browser, settle, sent, user } = await setup()
  const response = await make()
  const made = (await response.json()) as Webhook & { secret: string }
  expect(response.status).toBe(201)
  expect(made).toEqual({
    id: expect.stringMatching(/^whk_/),
    url: 'https://example.com/hooks',
    events: ['server.running'],
    created_at: new Date(clock.ms).toISOString(),
    status: 'on',
    off_because: null,
    answered_at: null,
    secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
  })
  const row = await rowOf(made.id)
  expect(openSecret(ctx.config.secretKey, made.id, row?.secrets[0]?.sealed ?? '')).toBe(made.secret)
  for (const path of ['/settings/developers', `/webhooks/${made.id}`, '/api/v1/users/export']) {
    const text = await (await browser.request(path)).text()
    expect(text, path).toContain('https://example.com/hooks')
    expect(text, path).not.toContain(made.secret.slice(6, 30))
    expect(text, path).not.toContain('sealed')
  }
  await settle()
  const mail = sent.findLast(({ to }) => to === user.email)
  expect(mail?.subject).toBe('You have a new webhook')
  expect(mail?.text).not.toContain('example.com/hooks')
})

test('emails its owner about a new secret and a deletion that happened, and Activity lists them', async () => {
  const { added, browser, settle, sent, user } = await setup()
  const { id } = await added()
  const stranger = await setup()
  const subjects = async () => {
    await settle()
    return sent.filter(({ to }) => to === user.email).map(({ subject }) => subject)
  }
  const rotate = (from = browser, current_password = PASSWORD) =>
    from.json('POST', `/webhooks/${id}/secret`, { current_password })
  const remove = (from = browser) => from.json('DELETE', `/webhooks/${id}`)
  expect((await rotate(browser, 'wrong')).status).toBe(422)
  expect((await rotate(stranger.browser)).status).toBe(404)
  expect((await remove(stranger.browser)).status).toBe(404)
  expect((await subjects()).at(-1)).toBe('You have a new webhook')
  expect((await rotate()).status).toBe(201)
  expect((await subjects()).at(-1)).toBe('One of your webhooks has a new secret')
  expect((await remove()).status).toBe(200)
  expect((await remove()).status).toBe(404)
  expect((await subjects()).filter((one) => /webhook/.test(one))).toEqual([
    'You have a new webhook',
    'One of your webhooks has a new secret',
    'One of your webhooks was deleted',
  ])
  const page = await (await browser.request('/activity')).text()
  for (const act of ['Webhook added', 'Webhook secret replaced', 'Webhook deleted']) expect(page).toContain(act)
})

test('refuses forbidden URLs, a URL twice, a sixth webhook, and a wrong password', async () => {
  const { make, ctx, user } = await setup()
  const refused = async (fields: object) => {
    const response = await make(fields)
    return [response.status, (await response.json()).error]
  }
  expect(await refused({ url: 'https://169.254.169.254/' })).toEqual([422, 'Use a host name instead of an IP address.'])
  expect(await refused({ events: [] })).toEqual([422, 'Choose at least one event.'])
  expect((await refused({ current_password: 'wrong' }))[0]).toBe(422)
  expect((await make()).status).toBe(201)
  expect(await refused({ url: 'https://EXAMPLE.com/hooks' })).toEqual([409, URL_TAKEN])
  const rows = [1, 2, 3].map((i) => ({ id: `${user.id}${i}`, url: `https://example.com/${i}` }))
  const row = { userId: user.id, events: [], secrets: [], createdAt: 0 }
  await ctx.db.insert(webhooks).values(rows.map((one) => ({ ...row, ...one })))
  expect((await make({ url: 'https://example.com/5' })).status).toBe(201)
  expect(await refused({ url: 'https://example.com/6' })).toEqual([409, TOO_MANY_WEBHOOKS])
})

test('on a deployed site, loopback and plain HTTP are refused', async () => {
  const { make, ctx } = await setup()
  ctx.config.local = false
  for (const url of ['http://localhost:9/', 'http://127.0.0.1:9/', 'https://localhost/', 'http://example.com/'])
    expect((await make({ url })).status, url).toBe(422)
  ctx.config.local = true
  expect((await make({ url: 'http://127.0.0.1:9/' })).status).toBe(201)
})

test('replaced secrets sign for a day', async () => {
  const { added, browser, clock, rowOf, ctx } = await setup()
  const { id, secret: first } = await added()
  const rotate = (current_password = PASSWORD) => browser.json('POST', `/webhooks/${id}/secret`, { current_password })
  const live = async () =>
    liveSecrets((await rowOf(id))?.secrets ?? [], clock.ms).map(({ sealed }) =>
      openSecret(ctx.config.secretKey, id, sealed),
    )
  expect((await rotate('wrong')).status).toBe(422)
  expect(await live()).toEqual([first])
  const response = await rotate()
  const { secret: second } = await response.json()
  expect([response.status, await live()]).toEqual([201, [second, first]])
  clock.ms += 86_400_000 - 1
  expect(await live()).toEqual([second, first])
  clock.ms += 1
  expect(await live()).toEqual([second])
})

test('replaced twice at once: the one who is shown a secret can use it, the other is told to try again', async () => {
  const { added, browser, clock, rowOf, ctx } = await setup()
  const { id } = await added()
  const rotate = () => browser.json('POST', `/webhooks/${id}/secret`, { current_password: PASSWORD })
  const { $client } = ctx.db
  const batch = $client.batch.bind($client)
  let first: Response | undefined
  $client.batch = async (statements, mode) => {
    const isLate = first === undefined && JSON.stringify(statements).includes('"webhook_endpoints\\" set \\"secrets')
    if (isLate) {
      $client.batch = batch
      first = await rotate()
    }
    return batch(statements, mode)
  }
  const second = await rotate()
  expect([first?.status, second.status]).toEqual([201, 409])
  const [newest] = liveSecrets((await rowOf(id))?.secrets ?? [], clock.ms)
  expect(openSecret(ctx.config.secretKey, id, newest?.sealed ?? '')).toBe((await first?.json())?.secret)
})

test('shows the beginning of a long payload, and sends all of it', async () => {
  const { added, browser, ctx, told } = await setup()
  const { id } = await added()
  await browser.json('POST', `/webhooks/${id}/test`)
  const show = async (payload: string) => {
    await ctx.db.update(webhookDeliveries).set({ payload }).where(eq(webhookDeliveries.webhookId, id))
    const page = await (await browser.request(`/webhooks/${id}`)).text()
    expect((await told(id))[0]?.payload).toBe(payload)
    return /<code class="secret">(x+…?)</.exec(page)?.[1]
  }
  expect(await show('x'.repeat(4_000))).toBe('x'.repeat(4_000))
  expect(await show('x'.repeat(4_001))).toBe(`${'x'.repeat(4_000)}…`)
})

test('at most four secrets sign at once', async () => {
  const { added, browser } = await setup()
  const { id } = await added()
  const rotate = () => browser.json('POST', `/webhooks/${id}/secret`, { current_password: PASSWORD })
  for (let i = 0; i < 3; i++) expect((await rotate()).status).toBe(201)
  const refused = await rotate()
  expect([refused.status, (await refused.json()).error]).toEqual([409, TOO_MANY_SECRETS])
})

test('sends a test event, sends it again, and neither while the webhook is off', async () => {
  const { added, browser, told, ctx } = await setup()
  const { id } = await added()
  const post = async (path: string) => {
    const response = await browser.json('POST', `/webhooks/${id}${path}`)
    const body = await response.json()
    return [response.status, body.message]
  }
  expect(await post('/test')).toEqual([202, TEST_SENT])
  const [event] = await told(id)
  expect(event).toMatchObject({ type: 'webhook.test', attempts: 0 })
  const done = { nextAt: null, takenAt: 1, attempts: 1, status: 200, answer: 'ok' }
  await ctx.db.update(webhookDeliveries).set(done).where(eq(webhookDeliveries.webhookId, id))
  expect(await post(`/deliveries/${event?.eventId}`)).toEqual([202, SENT_AGAIN])
  expect(await told(id)).toMatchObject([
    { attempts: 0, takenAt: null, status: null, answer: null, nextAt: expect.any(Number), eventId: event?.eventId },
  ])
  expect((await post('/deliveries/evt_none'))[0]).toBe(404)
  await ctx.db.update(webhooks).set({ offAt: 1, offBecause: 'failing' }).where(eq(webhooks.id, id))
  expect(await post('/test')).toEqual([409, WEBHOOK_OFF])
  expect(await post(`/deliveries/${event?.eventId}`)).toEqual([409, WEBHOOK_OFF])
  expect(await (await browser.request(`/webhooks/${id}`)).text()).toContain('for a whole day')
  expect(await post('/on')).toEqual([200, WEBHOOK_ON])
  expect((await post('/test'))[0]).toBe(202)
})

test("another user's webhook answers like one that doesn't exist, and doesn't change", async () => {
  const { added, rowOf, told, browser } = await setup()
  const { id } = await added()
  await browser.json('POST', `/webhooks/${id}/test`)
  const state = async () => [await rowOf(id), await told(id)]
  const before = await state()
  const [event] = await told(id)
  const eve = openAccount()
  await signedInUser(eve.browser, eve)
  const calls: [string, string, object?][] = [
    ['DELETE', ''],
    ['POST', '/on'],
    ['POST', '/test'],
    ['POST', '/secret', { current_password: PASSWORD }],
    ['POST', `/deliveries/${event?.eventId}`],
  ]
  for (const [method, path, body] of calls) {
    const answers = []
    for (const other of [id, 'whk_none']) {
      const response = await eve.browser.json(method, `/webhooks/${other}${path}`, body)
      answers.push([response.status, await response.json()])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.[0], path).toBe(404)
  }
  expect((await eve.browser.request(`/webhooks/${id}`)).status).toBe(404)
  expect(await state()).toEqual(before)
})

test('a hundred sends an hour, ten new webhooks an hour, ten new secrets an hour', async () => {
  const { added, make, browser, told } = await setup()
  const { id } = await added()
  const post = async (path: string, body?: object) =>
    (await browser.json('POST', `/webhooks/${id}${path}`, body)).status
  const statuses = new Set<number>([await post('/test')])
  const again = `/deliveries/${(await told(id))[0]?.eventId}`
  for (let i = 0; i < 98; i++) statuses.add(await post('/test'))
  statuses.add(await post(again))
  expect([...statuses]).toEqual([202])
  expect([await post('/test'), await post(again)]).toEqual([429, 429])
  const rotate = () => post('/secret', { current_password: PASSWORD })
  for (let i = 0; i < 10; i++) expect(await rotate()).not.toBe(429)
  expect(await rotate()).toBe(429)
  for (let i = 0; i < 9; i++) expect((await make()).status).toBe(409)
  expect((await make()).status).toBe(429)
})

test('works as plain forms: add, a refusal that keeps what was typed, rotate, delete', async () => {
  const { browser, ctx, user } = await setup()
  await browser.open('/settings/developers')
  await browser.form('/webhooks', { ...FIELDS, url: 'https://10.0.0.1/' })
  expect((await browser.open('/settings/developers')).flash).toMatchObject({
    field: 'url',
    values: { url: 'https://10.0.0.1/' },
  })
  const response = await browser.form('/webhooks', FIELDS)
  expect(response.status).toBe(201)
  expect(await response.text()).toMatch(/<code class="secret">whsec_[^<]+<\/code>/)
  expect((await browser.form('/webhooks', FIELDS)).status).toBe(303)
  expect((await browser.open('/settings/developers')).flash).toMatchObject({ message: URL_TAKEN })
  const [row] = await ctx.db.select().from(webhooks).where(eq(webhooks.userId, user.id))
  const path = `/webhooks/${row?.id}`
  const wrong = await browser.form(`${path}/secret`, { current_password: 'wrong' })
  expect([wrong.status, wrong.headers.get('Location')]).toEqual([303, path])
  expect((await browser.open(path)).flash).toMatchObject({ field: 'current_password' })
  const rotated = await browser.form(`${path}/secret`, { current_password: PASSWORD })
  expect([rotated.status, await rotated.text()]).toEqual([201, expect.stringMatching(/whsec_[\w+/]{43}=/)])
  const tested = await browser.form(`${path}/test`, {})
  expect([tested.status, tested.headers.get('Location')]).toEqual([303, path])
  expect((await browser.open(path)).flash).toMatchObject({ message: TEST_SENT })
  expect(await (await browser.request(path)).text()).toContain('webhook.test')
  expect((await browser.form(path, { _method: 'delete' })).headers.get('Location')).toBe(
    '/settings/developers#webhooks',
  )
  expect((await browser.open('/settings/developers')).flash).toMatchObject({ message: WEBHOOK_DELETED })
  expect(await ctx.db.$count(webhookDeliveries, eq(webhookDeliveries.userId, user.id))).toBe(0)
})

test('a webhook added with the old password during a password change does not exist', async () => {
  const { make, ctx, user } = await setup()
  const { counter } = ctx
  ctx.counter = (name) => ({
    ...counter(name),
    async forgive() {
      ctx.counter = counter
      await ctx.db.update(users).set({ passwordHash: 'another' }).where(eq(users.id, user.id))
    },
  })
  expect((await make()).status).toBe(422)
  expect(await ctx.db.$count(webhooks, eq(webhooks.userId, user.id))).toBe(0)
})

test('closing the account deletes its webhooks and their waiting events', async () => {
  const { added, browser, ctx, user, settle } = await setup()
  const { id } = await added()
  await browser.json('POST', `/webhooks/${id}/test`)
  const closed = await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })
  await settle()
  expect(closed.status).toBe(200)
  expect(await ctx.db.$count(webhooks, eq(webhooks.userId, user.id))).toBe(0)
  expect(await ctx.db.$count(webhookDeliveries, eq(webhookDeliveries.userId, user.id))).toBe(0)
})
