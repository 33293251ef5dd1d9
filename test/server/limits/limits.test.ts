import { eq } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { signIns, users } from '../../../db/schema/accounts.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { limitCalls } from '../../../src/server/limits/limits.ts'
import { networkOf } from '../../../src/server/limits/network.ts'
import { accountContext } from '../../../testing/people/account-app.ts'
import { newAddress, openAccount, PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let networks = 0
/** A new network, and people who signed in from its addresses. */
function newNetwork() {
  const account = accountContext()
  const { ctx } = account
  const network = `10.${++networks}.0`
  return {
    ...account,
    at: (host: number) => `${network}.${host}`,
    async people(count: number, address: string, seenAgo = DAY) {
      const seen = { createdAt: ctx.now() - seenAgo, lastSeenAt: ctx.now() - seenAgo, expiresAt: ctx.now() }
      const ids = Array.from({ length: count }, () => newId('user'))
      await ctx.db.insert(users).values(
        ids.map((id) => ({
          id,
          email: `${id.toLowerCase()}@example.com`,
          name: 'A',
          passwordHash: 'x',
          createdAt: 0,
        })),
      )
      // Two sign-ins each, because people count and not their sign-ins.
      for (let i = 0; i < 2; i++)
        await ctx.db
          .insert(signIns)
          .values(ids.map((userId) => ({ id: newId('in'), userId, address, network: networkOf(address), ...seen })))
    },
    /** How many consecutive sign-ups are accepted before one is refused. */
    async signUps(address: string | ((i: number) => string)) {
      for (let taken = 0; ; taken++) {
        const caller = { address: typeof address === 'string' ? address : address(taken) }
        try {
          await limitCalls(ctx, 'sign_up', caller, newAddress())
        } catch (error) {
          expect(error).toMatchObject({ code: 'too_many' })
          return taken
        }
      }
    },
  }
}

test('a new address gets 20 sign-ups an hour, and only then asks the database', async () => {
  const { ctx, at, signUps } = newNetwork()
  const asked = vi.spyOn(ctx.db.$client, 'execute')
  expect(await signUps(at(1))).toBe(20)
  expect(asked).toHaveBeenCalledTimes(1)
  asked.mockRestore()
})

test('an address many people sign in from gets half a sign-up an hour more for each', async () => {
  const { at, people, signUps, clock } = newNetwork()
  await people(60, at(1))
  expect(await signUps(at(1))).toBe(20 + 30)
  expect(await signUps(at(2))).toBe(20)
  clock.ms += HOUR
  expect(await signUps(at(1))).toBe(20 + 30)
})

test("growth ends at five times a new address's limit", async () => {
  const { at, people, signUps } = newNetwork()
  await people(250, at(1))
  expect(await signUps(at(1))).toBe(20 + 5 * 20)
})

test('people last seen 90 days ago no longer count', async () => {
  const { at, people, signUps } = newNetwork()
  await people(60, at(1), 91 * DAY)
  expect(await signUps(at(1))).toBe(20)
})

test('a network grows with the people of all its addresses', async () => {
  const { at, people, signUps } = newNetwork()
  for (let host = 1; host <= 4; host++) await people(10, at(host))
  expect(await signUps((i) => at(i % 200))).toBe(100 + 20)
})

test('a thief who confirms their own sign-ups gains little each hour, up to a fixed limit', async () => {
  const { at, people, signUps, clock } = newNetwork()
  const perHour = []
  for (let hour = 0; hour < 6; hour++) {
    const made = await signUps(at(1))
    perHour.push(made)
    await people(made, at(1))
    clock.ms += HOUR
  }
  expect(perHour.slice(0, 3)).toEqual([20, 30, 45])
  expect(Math.max(...perHour)).toBe(120)
})

test('a sign-in records the network it came from', async () => {
  const { account, browser, ctx } = openAccount()
  const { email, id } = await signedInUser(browser, account)
  const headers = {
    'Content-Type': 'application/json',
    'Sec-Fetch-Site': 'same-origin',
    'X-CSRF-Token': browser.token(),
    'CF-Connecting-IP': '2001:db8:7:1::9',
  }
  const body = JSON.stringify({ user: { email, password: PASSWORD } })
  expect((await browser.request('/users/sign_in', { method: 'POST', headers, body })).status).toBe(200)
  const rows = await ctx.db.select().from(signIns).where(eq(signIns.userId, id))
  expect(rows.map((row) => row.network).sort()).toEqual(['2001:db8:7', null].sort())
})

test('IPv6: a machine that picks its own addresses counts as one, and keeps out nobody else in its network', async () => {
  const { signUps } = newNetwork()
  const [mine, neighbor] = ['2001:db8:77:1', '2001:db8:77:2']
  expect(await signUps((i) => `${mine}:${i + 1}:a:b:c`)).toBe(20)
  expect(await signUps(`${neighbor}::1`)).toBe(20)
})

test('IPv6: counts the people of a connection, whatever addresses they have now', async () => {
  const { people, signUps } = newNetwork()
  await people(20, '2001:db8:78:1:1:a:b:c')
  await people(20, '2001:db8:78:1::5')
  await people(20, '2001:db8:78:11::5')
  expect(await signUps('2001:db8:78:1::9')).toBe(20 + 20)
  expect(await signUps('2001:db8:78:2::9')).toBe(20)
})
