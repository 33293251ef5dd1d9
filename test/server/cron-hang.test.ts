import { afterAll, expect, test } from 'vitest'
import { writeBatch } from '../../db/client.ts'
import { users } from '../../db/schema/accounts.ts'
import { bills, invoices } from '../../db/schema/billing.ts'
import { startStack } from '../../dev/stack.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { composeMail } from '../../src/server/mail/letter.ts'
import { mailQuery } from '../../src/server/mail/outbox.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'

const PEOPLE = 24
const MAILS = 40

const dataDir = temporaryFolder('proving-ground-hang')
const stack = await startStack({ dataDir, log: () => {}, ...quickHasher })
const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
afterAll(async () => {
  await stack.close()
})

const mailed = () => stack.services.mailbox.list().filter(({ subject }) => subject === 'While Stripe hangs').length
const hung = () => stack.services.stripe?.calls().filter(({ status }) => status === null).length ?? 0
const looks = () => stack.services.ec2?.calls().filter(({ action }) => action === 'DescribeInstances').length ?? 0

/** In the built Worker, where an invocation's seventh connection queues behind those that hang. */
test('while Stripe hangs, every mail goes out and the fleet is checked', async () => {
  // Due a little later, so that all of it waits for the triggers below.
  const now = Date.now() + 600_000
  const owing = Array.from({ length: PEOPLE }, () => ({ userId: newId('user'), billId: newId('bill') }))
  await writeBatch(db, [
    ...owing.flatMap(({ userId, billId }) => [
      db.insert(users).values({
        id: userId,
        email: `${userId}@example.com`,
        name: 'Ada',
        passwordHash: '',
        createdAt: now,
        billingDueAt: Number.MAX_SAFE_INTEGER,
      }),
      db.insert(bills).values({
        id: billId,
        userId,
        periodStart: now - 9e8,
        periodEnd: now,
        planType: null,
        includedHours: 0,
        trial: false,
        seconds: 3600,
        amountCents: 175,
        createdAt: now,
      }),
      db.insert(invoices).values({ billId, userId, step: 'draft', nextAt: now, createdAt: now }),
    ]),
    ...Array.from({ length: MAILS }, (_, i) =>
      mailQuery({ db, now: () => now }, `pilot-${i}@example.com`, composeMail('While Stripe hangs', ['Hello.'])),
    ),
  ])
  stack.services.stripe?.inject('timeout', 10_000)

  const triggers = { over: false }
  const before = looks()
  const minute = fetch(`${stack.url}/dev/clock`, {
    method: 'POST',
    body: JSON.stringify({ advance_seconds: 601 }),
  }).finally(() => {
    triggers.over = true
  })
  await expect.poll(mailed).toBe(MAILS)
  await expect.poll(hung).toBeGreaterThan(0)
  await expect.poll(looks).toBeGreaterThan(before)
  // It still hangs: we have not even asked about most debtors.
  expect(hung()).toBeLessThan(PEOPLE)
  expect(triggers.over).toBe(false)

  stack.services.stripe?.heal()
  await minute
})
