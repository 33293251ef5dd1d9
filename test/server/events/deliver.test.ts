import { and, eq, type SQL, sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { webhookDeliveries, webhooks } from '../../../db/schema/events.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { deliverDue } from '../../../src/server/events/deliver.ts'
import { eventQuery } from '../../../src/server/events/outbox.ts'
import { renewSecrets } from '../../../src/server/events/renew-secrets.ts'
import { openSecret, sealSecret } from '../../../src/server/events/secrets.ts'
import { wakeSenders } from '../../../src/server/events/sweep.ts'
import type { WebhookAnswer } from '../../../src/server/ports/webhooks.ts'
import { ownDatabase } from '../../../testing/stack/own-database.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const KEY = 'a-secret-of-thirty-two-characters-or-more'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const TAKEN: WebhookAnswer = { taken: true, status: 204, text: '' }
const BROKEN: WebhookAnswer = { taken: false, status: 500, text: 'oops' }

const db = await ownDatabase()
const clock = { ms: Date.now() }
const { log, takeLines } = recordLog()
type Sent = { url: string; headers: Record<string, string>; body: string }
let sent: Sent[] = []
let answer: (message: Sent) => Promise<WebhookAnswer> | WebhookAnswer = () => TAKEN
const mailsTo: string[] = []
const woken: string[] = []
const pending: Promise<unknown>[] = []
const ctx = testContext({
  db,
  now: () => clock.ms,
  log,
  background: (work) => void pending.push(work),
  mailer: { send: async ({ to }) => void mailsTo.push(to) },
  eventSender: (userId) => ({ wake: async () => void woken.push(userId) }),
  postWebhook: async (url, headers, body) => {
    sent.push({ url, headers, body })
    return answer({ url, headers, body })
  },
  config: { secretKey: KEY, origins: ['https://site.example'], local: false },
})

let ada = ''
beforeEach(async () => {
  ada = newId('user')
  sent = []
  answer = () => TAKEN
  await db.insert(users).values({ id: ada, email: `${ada}@example.com`, name: 'Ada', passwordHash: '', createdAt: 0 })
})
afterEach(async () => {
  await Promise.all(pending.splice(0))
  await db.update(webhookDeliveries).set({ nextAt: null })
  takeLines()
})

async function endpoint(url = 'https://example.com/', row: Partial<typeof webhooks.$inferInsert> = {}) {
  const id = newId('whk')
  const secrets = [{ sealed: sealSecret(KEY, id, SECRET), endsAt: null }]
  await db.insert(webhooks).values({ id, userId: ada, url, events: ['server.running'], secrets, createdAt: 0, ...row })
  return id
}
const happen = (about: string) => eventQuery(ctx, ada, { type: 'server.running', about, data: { about } }, sql`1`)
const look = () => deliverDue(ctx, ada)
const deliveries = (id: string) => db.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id))
const hookOf = async (id: string) => (await db.select().from(webhooks).where(eq(webhooks.id, id)))[0]

test('delivers an event once to each endpoint that wants it, signed according to the specification', async () => {
  const id = await endpoint()
  await endpoint('https://example.com/other', { events: ['bill.closed'] })
  await endpoint('https://example.com/off', { offAt: 1 })
  await happen('ses_1')
  await happen('ses_1')
  expect(await look()).toBeNull()
  expect(await look()).toBeNull()
  expect(sent.map(({ url }) => url)).toEqual(['https://example.com/'])
  const [{ headers, body }] = sent as [Sent]
  const { 'webhook-id': eventId, 'webhook-timestamp': at } = headers
  expect([eventId, at]).toEqual(['evt_server_running_ses_1', `${Math.floor(clock.ms / 1000)}`])
  expect(new Webhook(SECRET).verify(body, headers)).toEqual({
    type: 'server.running',
    timestamp: new Date(clock.ms).toISOString(),
    data: { about: 'ses_1' },
  })
  expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow()
  expect(await deliveries(id)).toMatchObject([{ attempts: 1, nextAt: null, takenAt: clock.ms, status: 204 }])
  expect(await hookOf(id)).toMatchObject({ answeredAt: clock.ms, offAt: null })
})

test('two looks at once send it once', async () => {
  await endpoint()
  await happen('ses_1')
  await Promise.all([look(), look(), look()])
  expect(sent).toHaveLength(1)
})

test('a try that died is repeated after a minute, not before', async () => {
  await endpoint()
  await happen('ses_1')
  answer = () => new Promise(() => {})
  void look()
  await expect.poll(() => sent).toHaveLength(1)
  answer = () => TAKEN
  expect(await look()).toBe(clock.ms + 60_000)
  clock.ms += 59_999
  await look()
  expect(sent).toHaveLength(1)
  clock.ms += 1
  expect(await look()).toBeNull()
  expect(sent).toHaveLength(2)
})

test('signs with a replaced secret until its end, and with the new one', async () => {
  const id = await endpoint()
  const NEW = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const secrets = [
    { sealed: sealSecret(KEY, id, NEW), endsAt: null },
    { sealed: sealSecret(KEY, id, SECRET), endsAt: clock.ms + 1 },
  ]
  await db.update(webhooks).set({ secrets }).where(eq(webhooks.id, id))
  await happen('ses_1')
  await look()
  clock.ms += 1
  await happen('ses_2')
  await look()
  const [both, one] = sent as [Sent, Sent]
  for (const secret of [NEW, SECRET]) expect(new Webhook(secret).verify(both.body, both.headers)).toBeTruthy()
  expect(new Webhook(NEW).verify(one.body, one.headers)).toBeTruthy()
  expect(() => new Webhook(SECRET).verify(one.body, one.headers)).toThrow()
})

test('an endpoint that hangs holds up only itself', async () => {
  await endpoint('https://hangs.example.com/')
  await endpoint('https://works.example.com/')
  for (const about of ['ses_1', 'ses_2', 'ses_3']) await happen(about)
  let release = () => {}
  answer = ({ url }) =>
    url.includes('hangs')
      ? new Promise((resolve) => {
          release = () => resolve({ taken: false, status: null, text: 'No answer within 10 seconds.' })
        })
      : TAKEN
  const looked = look()
  await expect.poll(() => sent.filter(({ url }) => url.includes('works'))).toHaveLength(3)
  release()
  // After its first failure, its other events wait as long.
  expect(await looked).toBe(clock.ms + 10_000)
  expect(sent).toHaveLength(4)
})

test('tries for a day, then gives up, switches off an endpoint that has accepted nothing since, and says so once', async () => {
  const id = await endpoint()
  await happen('ses_1')
  const start = clock.ms
  answer = () => BROKEN
  for (let next = await look(); next !== null; next = await look()) {
    expect(next - start).toBeLessThanOrEqual(DAY)
    clock.ms = next
  }
  expect(clock.ms - start).toBe(DAY)
  expect(sent.length).toBeGreaterThan(8)
  expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(await deliveries(id)).toMatchObject([{ nextAt: null, takenAt: null, status: 500, answer: 'oops' }])
  expect(await hookOf(id)).toMatchObject({ offAt: clock.ms, offBecause: 'failing' })
  const mails = await db
    .select()
    .from(outbox)
    .where(eq(outbox.recipient, `${ada}@example.com`))
  expect(mails.map(({ subject }) => subject)).toEqual(['We switched off a webhook'])
  await happen('ses_2')
  expect(await look()).toBeNull()
  expect(await deliveries(id)).toHaveLength(1)
})

test('gives up one event, but leaves on an endpoint that has accepted another one since', async () => {
  const id = await endpoint()
  await happen('ses_1')
  answer = ({ headers }) => (headers['webhook-id']?.endsWith('ses_1') ? BROKEN : TAKEN)
  await look()
  clock.ms += HOUR
  await happen('ses_2')
  for (let next = await look(); next !== null; next = await look()) clock.ms = next
  expect(await hookOf(id)).toMatchObject({ offAt: null })
  const rows = await deliveries(id)
  expect(rows.map(({ eventId, takenAt }) => [eventId.slice(-5), takenAt !== null]).sort()).toEqual([
    ['ses_1', false],
    ['ses_2', true],
  ])
})

test('immediately switches off an endpoint that answers 410, and drops its waiting events', async () => {
  const id = await endpoint()
  await happen('ses_1')
  await happen('ses_2')
  answer = () => ({ taken: false, status: 410, text: '' })
  expect(await look()).toBeNull()
  expect(sent).toHaveLength(1)
  expect(await hookOf(id)).toMatchObject({ offAt: clock.ms, offBecause: 'gone' })
})

test('an event sent again by hand during its last try is sent again', async () => {
  const id = await endpoint()
  await happen('ses_1')
  answer = async () => {
    answer = () => TAKEN
    await db
      .update(webhookDeliveries)
      .set({ nextAt: clock.ms, since: clock.ms })
      .where(eq(webhookDeliveries.webhookId, id))
    return BROKEN
  }
  // The endpoint has just failed, so the event waits like the others due there.
  clock.ms = (await look()) ?? 0
  expect(await look()).toBeNull()
  expect(sent).toHaveLength(2)
  expect(await deliveries(id)).toMatchObject([{ takenAt: clock.ms, nextAt: null }])
})

test('never calls a forbidden URL, no matter who wrote it into the database', async () => {
  const id = await endpoint('https://169.254.169.254/')
  await happen('ses_1')
  await look()
  expect(sent).toEqual([])
  expect(await deliveries(id)).toMatchObject([{ status: null, answer: 'Use a host name instead of an IP address.' }])
})

test('keeps the last 100 of an endpoint, and everything that waits', async () => {
  const id = await endpoint()
  const old = { webhookId: id, userId: ada, type: 'server.running' as const, payload: '{}', since: 0 }
  const rows = Array.from({ length: 120 }, (_, i) => ({ ...old, eventId: `old_${i}`, createdAt: i }))
  await db.insert(webhookDeliveries).values(rows)
  await db
    .update(webhookDeliveries)
    .set({ nextAt: clock.ms + DAY })
    .where(eq(webhookDeliveries.eventId, 'old_3'))
  await happen('ses_1')
  await look()
  const kept = (await deliveries(id)).map(({ eventId }) => eventId)
  expect(kept).toHaveLength(101)
  expect(kept).toEqual(expect.arrayContaining(['old_3', 'old_21', 'old_119', 'evt_server_running_ses_1']))
  expect(kept).not.toContain('old_20')
})

test('the sweep wakes only senders with overdue events', async () => {
  await endpoint()
  await happen('ses_1')
  woken.length = 0
  clock.ms += 5_000
  await wakeSenders(ctx)
  expect(woken).toEqual([])
  clock.ms += 1
  await wakeSenders(ctx)
  expect(woken).toEqual([ada])
})

test('a secret belongs to its endpoint, and survives a rotation of SECRET_KEY once it was renewed', async () => {
  const id = await endpoint()
  const sealed = (await hookOf(id))?.secrets[0]?.sealed ?? ''
  expect(JSON.stringify(await hookOf(id))).not.toContain(SECRET.slice(6, 20))
  expect(() => openSecret(KEY, 'whk_other', sealed)).toThrow()
  const NEXT = 'another-secret-of-thirty-two-characters'
  expect(() => openSecret(NEXT, id, sealed)).toThrow()
  const ended = { sealed: sealSecret(KEY, id, 'whsec_b2xk'), endsAt: clock.ms }
  await db
    .update(webhooks)
    .set({ secrets: [{ sealed, endsAt: null }, ended] })
    .where(eq(webhooks.id, id))
  await renewSecrets({ ...ctx, config: { ...ctx.config, secretKey: `${NEXT},${KEY}` } })
  const renewed = (await hookOf(id))?.secrets ?? []
  expect(renewed).toHaveLength(1)
  expect(openSecret(NEXT, id, renewed[0]?.sealed ?? '')).toBe(SECRET)
  await db.delete(webhooks).where(and(eq(webhooks.id, id)))
})

test('a replaced secret is deleted at the moment when it ends, and not before', async () => {
  const id = await endpoint()
  const [current] = (await hookOf(id))?.secrets ?? []
  const replaced = { sealed: sealSecret(KEY, id, 'whsec_b2xk'), endsAt: clock.ms + 1 }
  const secrets = [current as NonNullable<typeof current>, replaced]
  await db.update(webhooks).set({ secrets }).where(eq(webhooks.id, id))
  await renewSecrets(ctx)
  expect((await hookOf(id))?.secrets).toEqual(secrets)
  clock.ms += 1
  await renewSecrets(ctx)
  expect((await hookOf(id))?.secrets).toEqual([current])
  await db.delete(webhooks).where(eq(webhooks.id, id))
})

test('renewing secrets overwrites no secret that was made meanwhile', async () => {
  const id = await endpoint()
  const ended = { sealed: sealSecret(KEY, id, 'whsec_b2xk'), endsAt: clock.ms }
  const made = { sealed: sealSecret(KEY, id, 'whsec_bmV3'), endsAt: null }
  await db
    .update(webhooks)
    .set({ secrets: [ended] })
    .where(eq(webhooks.id, id))
  const rotateAfterRead = async (query: SQL) => {
    const rows = await db.all(query)
    await db
      .update(webhooks)
      .set({ secrets: [made] })
      .where(eq(webhooks.id, id))
    return rows
  }
  const racing = { all: rotateAfterRead, run: (query: SQL) => db.run(query) } as unknown as typeof db
  await renewSecrets({ ...ctx, db: racing })
  expect((await hookOf(id))?.secrets).toEqual([made])
  await db.delete(webhooks).where(eq(webhooks.id, id))
})
