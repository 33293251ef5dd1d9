import { expect, test } from 'vitest'
import { apiTokens, emailTokens, signInChallenges, signIns, users } from '../../../db/schema/accounts.ts'
import { stripeEvents } from '../../../db/schema/billing.ts'
import { idempotencyKeys, jobs, places, runs, serverRequests } from '../../../db/schema/fleet.ts'
import { lineGroupPeople, lineGroups } from '../../../db/schema/line.ts'
import { notices, outbox } from '../../../db/schema/mail.ts'
import { alerts, contactMessages } from '../../../db/schema/operations.ts'
import { forgetTraces } from '../../../src/server/accounts/retention.ts'
import { ownDatabase } from '../../../testing/stack/own-database.ts'

const DAY = 86_400_000
const now = 1_800_000_000_000
const ago = (days: number) => now - days * DAY

test('deletes what nobody needs, and keeps what is still of use or waiting', async () => {
  const db = await ownDatabase()
  const user = { email: 'ada@example.com', name: 'Ada', passwordHash: 'none', createdAt: ago(400) }
  await db.insert(users).values([
    { id: 'user_1', ...user },
    { id: 'user_2', ...user, email: 'confirmed@example.com', confirmedAt: ago(400) },
  ])
  const link = { userId: 'user_1', purpose: 'confirm', createdAt: ago(400) } as const
  await db.insert(emailTokens).values([
    { ...link, hash: 'long over', expiresAt: ago(31) },
    { ...link, hash: 'over', expiresAt: ago(29) },
    { ...link, hash: 'waits', expiresAt: now + DAY },
    // Expired by a later sign-up: mails to an address that is still unconfirmed warn about this one.
    { ...link, hash: 'warns', expiresAt: link.createdAt },
    { ...link, hash: 'needs not warn', userId: 'user_2', expiresAt: link.createdAt },
  ])
  const signIn = { userId: 'user_1', createdAt: ago(400), lastSeenAt: ago(400) }
  await db.insert(signIns).values([
    { ...signIn, id: 'long over', expiresAt: ago(91), revokedAt: ago(104) },
    { ...signIn, id: 'over', expiresAt: ago(89) },
    { ...signIn, id: 'live', expiresAt: now + DAY },
  ])
  const challenge = { userId: 'user_1', browser: 'x' }
  await db.insert(signInChallenges).values([
    { ...challenge, hash: 'old', expiresAt: ago(1) - 1 },
    { ...challenge, hash: 'not told', expiresAt: ago(1) },
  ])
  const token = { userId: 'user_1', name: 'CI', scope: 'read' as const, createdAt: ago(400) }
  await db.insert(apiTokens).values([
    { ...token, id: 'long over', hash: '1', expiresAt: ago(91), revokedAt: ago(300) },
    { ...token, id: 'over', hash: '2', expiresAt: ago(89) },
    { ...token, id: 'live', hash: '3', expiresAt: now + DAY },
  ])
  const notice = { userId: 'user_1', kind: 'ended', title: 'x', text: 'x' } as const
  await db.insert(notices).values([
    { ...notice, id: 'old', at: ago(91) },
    { ...notice, id: 'recent', at: ago(89) },
  ])
  await db.insert(stripeEvents).values([
    { id: 'old', type: 'invoice.paid', receivedAt: ago(91) },
    { id: 'may come again', type: 'invoice.paid', receivedAt: ago(89) },
  ])
  const mail = { recipient: user.email, subject: 'x', text: '', html: '', createdAt: ago(400) }
  await db.insert(outbox).values([
    { ...mail, id: 'old', sentAt: ago(91) },
    { ...mail, id: 'sent', sentAt: ago(89) },
    { ...mail, id: 'never sent', sentAt: null, sendAt: now },
    { ...mail, id: 'given up long ago', createdAt: ago(91) },
    { ...mail, id: 'given up', createdAt: ago(89) },
  ])
  const message = { name: 'Ada', email: user.email, source: 'Referral', message: 'Hello' }
  await db.insert(contactMessages).values([
    { ...message, id: 'old', createdAt: ago(91) },
    { ...message, id: 'recent', createdAt: ago(89) },
  ])
  await db.insert(serverRequests).values([
    { userId: 'user_1', id: 'old', createdAt: ago(91) },
    { userId: 'user_1', id: 'recent', createdAt: ago(89) },
  ])
  const place = { instanceType: 'g6', availabilityZone: 'a', position: 1 }
  await db.insert(places).values({ ...place, id: 'srv_1' })
  const run = { userId: 'user_1', placeId: 'srv_1', instanceType: 'g6', requestedAt: ago(1) }
  await db.insert(runs).values({ ...run, id: 'ses_1' })
  const job = { userId: 'user_1', runId: 'ses_1', kind: 'server_start', status: 'failed' } as const
  await db.insert(jobs).values({ ...job, id: 'job_1', createdAt: ago(1), updatedAt: ago(1) })
  const key = { userId: 'user_1', digest: '', jobId: 'job_1' }
  await db.insert(idempotencyKeys).values([
    { ...key, key: 'old', createdAt: ago(1) },
    { ...key, key: 'counts', createdAt: ago(1) + 1 },
  ])
  const group = { name: 'Class', gpus: 1, places: 1, startsAt: ago(400), madeAt: ago(400) }
  await db.insert(lineGroups).values([
    { ...group, id: 'old', endsAt: ago(91) },
    { ...group, id: 'recent', endsAt: ago(89) },
  ])
  await db
    .insert(lineGroupPeople)
    .values(['old', 'recent'].map((groupId) => ({ groupId, email: user.email, joinedAt: ago(400) })))
  await db.insert(alerts).values([
    { matter: 'old', toldAt: ago(1) - 1 },
    { matter: 'recent', toldAt: ago(1) },
  ])

  await forgetTraces({ db, now: () => now })
  await forgetTraces({ db, now: () => now })

  expect((await db.select().from(emailTokens)).map(({ hash }) => hash)).toEqual(['over', 'waits', 'warns'])
  expect((await db.select().from(signIns)).map(({ id }) => id)).toEqual(['over', 'live'])
  expect((await db.select().from(signInChallenges)).map(({ hash }) => hash)).toEqual(['not told'])
  expect((await db.select().from(apiTokens)).map(({ id }) => id)).toEqual(['over', 'live'])
  expect((await db.select().from(notices)).map(({ id }) => id)).toEqual(['recent'])
  expect((await db.select().from(stripeEvents)).map(({ id }) => id)).toEqual(['may come again'])
  expect((await db.select().from(outbox)).map(({ id }) => id)).toEqual(['sent', 'never sent', 'given up'])
  expect((await db.select().from(contactMessages)).map(({ id }) => id)).toEqual(['recent'])
  expect((await db.select().from(serverRequests)).map(({ id }) => id)).toEqual(['recent'])
  expect((await db.select().from(lineGroups)).map(({ id }) => id)).toEqual(['recent'])
  expect((await db.select().from(lineGroupPeople)).map(({ groupId }) => groupId)).toEqual(['recent'])
  expect((await db.select().from(alerts)).map(({ matter }) => matter)).toEqual(['recent'])
  expect((await db.select().from(idempotencyKeys)).map(({ key }) => key)).toEqual(['counts'])
  expect(await db.select().from(users)).toHaveLength(2)
})
