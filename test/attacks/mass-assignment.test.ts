import { eq, getTableColumns } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { accountApp, accountContext } from '../../testing/people/account-app.ts'
import { openAppBrowser } from '../../testing/people/app-browser.ts'
import { newAddress, signedInUser, signUpFields } from '../../testing/people/sign-up.ts'

const account = accountContext()
const app = accountApp(account.ctx)
const find = async (email: string) => (await account.ctx.db.select().from(users).where(eq(users.email, email)))[0]

const NAMES = Object.entries(getTableColumns(users)).flatMap(([key, column]) => [key, column.name])
const RESERVED = new Set(Object.keys(signUpFields('')))
const extra = fc.dictionary(
  fc.oneof(fc.constantFrom(...NAMES, 'admin', 'role', 'is_admin', '__proto__', 'constructor'), fc.string()),
  fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.constant(null), fc.object()),
)
const unnamed = extra.map((fields) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !RESERVED.has(name))),
)

/** The columns in which two rows differ. */
function differences(a: object = {}, b: object = {}): string[] {
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))]
  return left
    .flatMap(([name, value]) => (JSON.stringify(right.get(name)) === JSON.stringify(value) ? [] : [name]))
    .sort()
}

test('sign-up stores only the fields it knows', async () => {
  const first = newAddress()
  await openAppBrowser(app).json('POST', '/users', { user: signUpFields(first) })
  const plain = await find(first)
  account.clock.ms += 1_000
  await fc.assert(
    fc.asyncProperty(unnamed, async (fields) => {
      const email = newAddress()
      const response = await openAppBrowser(app).json('POST', '/users', {
        ...fields,
        user: { ...fields, ...signUpFields(email) },
      })
      expect(response.status).toBe(201)
      expect(differences(plain, await find(email))).toEqual(['createdAt', 'email', 'id', 'passwordHash'])
      account.clock.ms += 1_000
    }),
    { numRuns: 15 },
  )
})

test('the profile changes only the name', async () => {
  const browser = openAppBrowser(app)
  const { email } = await signedInUser(browser, account)
  const before = await find(email)
  await fc.assert(
    fc.asyncProperty(unnamed, async (fields) => {
      const { current_password: _, ...safe } = fields
      const response = await browser.json('PUT', '/users', { ...safe, user: { ...safe, name: 'Grace' } })
      expect(response.status).toBe(200)
      expect(await find(email)).toEqual({ ...before, name: 'Grace' })
    }),
    { numRuns: 40 },
  )
})
