import { eq } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { startStack } from '../../../dev/stack.ts'
import { delayAfter, FREE_GUESSES } from '../../../src/domain/attempts.ts'
import { Client, newPerson, PASSWORD, waitFor } from '../../../testing/people/client.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../../testing/stack/database.ts'
import { quickHasher } from '../../../testing/stack/quick-hasher.ts'

/** The real objects in workerd, on a clock that the tests move. */
const dataDir = temporaryFolder('proving-ground-counters')
const stack = await startStack({ dataDir, plansForSale: true, log: () => {}, ...quickHasher })
const { url } = stack
const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
afterAll(async () => {
  await stack.close()
})

async function advance(seconds: number): Promise<void> {
  const moved = await fetch(`${url}/dev/clock`, { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })
  expect(moved.status).toBe(200)
}

/** Tries passwords from a browser new to this account. */
async function stranger(email: string) {
  const client = new Client(url)
  await client.open('/sign_in')
  return async (password: string) => {
    const { status, headers } = await client.post('/users/sign_in', { user: { email, password } })
    return { status, wait: Number(headers.get('Retry-After')) }
  }
}

type Guess = Awaited<ReturnType<typeof stranger>>

async function guessWrong(guess: Guess, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await guess('a guess')).toEqual({ status: 401, wait: 0 })
}

/** Enough that the next one waits for minutes, however slow the machine is. */
const MANY = FREE_GUESSES + 5

/** Guesses until `MANY` were wrong, sitting out each wait. */
async function lockOut(guess: Guess, wrong = 0): Promise<void> {
  for (let failures = wrong; failures < MANY; failures++) {
    if (delayAfter(failures)) await advance(delayAfter(failures) / 1000)
    await guessWrong(guess, 1)
  }
  const { status, wait } = await guess(PASSWORD)
  expect(status).toBe(429)
  expect(wait).toBeGreaterThan(delayAfter(MANY - 1) / 1000)
  expect(wait).toBeLessThanOrEqual(delayAfter(MANY) / 1000)
}

const atOnce = <T>(count: number, act: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => act(i)))

test('of twenty guesses at once, checks five and tells the rest to wait', async () => {
  const guess = await stranger((await newPerson(url)).email)
  const from = Date.now()
  const answers = await atOnce(20, (i) => guess(`guess number ${i}`))
  const looked = answers.filter(({ status }) => status === 401).length
  expect(looked).toBeGreaterThanOrEqual(FREE_GUESSES)
  expect(looked).toBeLessThanOrEqual(lookedAtIn(Date.now() - from))
  const refused = answers.filter(({ wait }) => wait > 0)
  expect(refused).toHaveLength(20 - looked)
  for (const { status } of refused) expect(status).toBe(429)
})

/** On a busy machine, twenty hashes take longer than the first wait. */
function lookedAtIn(ms: number): number {
  let count = FREE_GUESSES
  for (let waited = delayAfter(count); waited <= ms; waited += delayAfter(count)) count += 1
  return count
}

test('takes back a guess that could not be checked, and still counts the earlier ones', async () => {
  const { email } = await newPerson(url)
  const [user] = await db.select().from(users).where(eq(users.email, email))
  const store = (passwordHash = '') => db.update(users).set({ passwordHash }).where(eq(users.email, email))
  const guess = await stranger(email)
  await guessWrong(guess, FREE_GUESSES - 1)
  await store('not readable')
  for (let i = 0; i < 10; i++) expect(await guess(PASSWORD)).toEqual({ status: 500, wait: 0 })
  await store(user?.passwordHash)
  await lockOut(guess, FREE_GUESSES - 1)
})

test('a right password forgives the wrong ones before it', async () => {
  const { email } = await newPerson(url)
  const guess = await stranger(email)
  await guessWrong(guess, FREE_GUESSES - 1)
  expect((await guess(PASSWORD)).status).toBe(200)
  await guessWrong(await stranger(email), FREE_GUESSES)
})

test('a new password by mail lets its owner in at once, however many guesses came before', async () => {
  const { email } = await newPerson(url)
  const guess = await stranger(email)
  await lockOut(guess)
  const owner = new Client(url)
  await owner.open('/sign_in')
  await owner.post('/users/password', { user: { email } })
  const token = await waitFor(async () => {
    const mail = stack.services.mailbox.list().find(({ to, text }) => to === email && text.includes('reset_password'))
    return /reset_password_token=([\w-]+)/.exec(mail?.text ?? '')?.[1]
  })
  const password = 'another good one'
  const reset = { reset_password_token: token, password, password_confirmation: password }
  expect((await owner.request('PUT', '/users/password', { user: reset })).status).toBe(200)
  // Forgiven in the background; otherwise it would wait for minutes.
  await expect.poll(async () => (await guess(password)).status).toBe(200)
})

test('never opens more than six checkout pages in any hour, however many calls come at once', async () => {
  const person = await newPerson(url)
  const opened = async (tries: number) => {
    const open = () => person.post('/api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' })
    const statuses = (await atOnce(tries, open)).map(({ status }) => status)
    expect(statuses.filter((status) => ![200, 429].includes(status))).toEqual([])
    return statuses.filter((status) => status !== 429).length
  }
  expect(await opened(1)).toBe(1)
  // A limit that pays off gradually would have forgotten the first by now.
  await advance(3000)
  expect(await opened(12)).toBe(5)
  await advance(660)
  expect(await opened(3)).toBe(1)
})
