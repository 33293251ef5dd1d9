import { afterAll, expect, test } from 'vitest'
import { emailTokens, users } from '../../../../db/schema/accounts.ts'
import { startStack } from '../../../../dev/stack.ts'
import { Client } from '../../../../testing/people/client.ts'
import { signUpFields } from '../../../../testing/people/sign-up.ts'
import { temporaryFolder } from '../../../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../../../testing/stack/database.ts'

const AT_ONCE = 50

const dataDir = temporaryFolder('proving-ground-hasher')
const stack = await startStack({ dataDir, log: () => {} })
afterAll(async () => {
  await stack.close()
})

test('50 sign-ups at once delay no page, and each makes one account or learns when to try again', async () => {
  const answered: string[] = []
  const emails = Array.from({ length: AT_ONCE }, (_, i) => `crowd-${i}@example.com`)
  const signUps = emails.map(async (email) => {
    const { status, headers, body } = await new Client(stack.url).request('POST', '/users', {
      user: signUpFields(email),
    })
    answered.push(email)
    return { email, status, retryAfter: headers.get('Retry-After'), message: body.message }
  })
  const visitor = new Client(stack.url)
  for (let page = 0; page < 20; page++) expect((await visitor.get('/robots.txt')).status).toBe(200)
  // If hashing held pages up, the sign-ups would all be over by now. The bench measures how much it does.
  expect(answered.length).toBeLessThan(AT_ONCE)

  const replies = await Promise.all(signUps)
  const refused = replies.filter(({ status }) => status !== 201)
  for (const { status, retryAfter, message } of refused)
    expect({ status, retryAfter, message }).toEqual({
      status: 503,
      retryAfter: '5',
      message: "We're handling a lot of requests right now. Please try again in a moment.",
    })
  expect(refused.length).toBeLessThan(AT_ONCE)
  const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
  const stored = await db.select({ email: users.email }).from(users)
  const accounts = stored.map(({ email }) => email).filter((email) => emails.includes(email))
  expect(accounts.toSorted()).toEqual(
    replies
      .filter(({ status }) => status === 201)
      .map(({ email }) => email)
      .toSorted(),
  )
  expect(await db.$count(emailTokens)).toBe(accounts.length)
})
