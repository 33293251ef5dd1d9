import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { emailTokens, signIns } from '../../db/schema/accounts.ts'
import { checkouts, plans } from '../../db/schema/billing.ts'
import { hashEmailToken } from '../../src/server/accounts/email-tokens.ts'
import { app } from '../../src/server/app.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { openSite, SITE } from '../../testing/stack/site.ts'

const TEN_MINUTES = 10 * 60_000
const calls: string[] = []
const stripe = createServer((request, response) => {
  calls.push(`stripe: ${request.url}`)
  response.writeHead(500).end()
})
await new Promise<void>((listening) => stripe.listen(0, '127.0.0.1', listening))
afterAll(() => void stripe.close())

const channel = {
  async fetch() {
    calls.push('a socket')
    return new Response()
  },
}
const overrides = {
  STRIPE_API_BASE: `http://127.0.0.1:${(stripe.address() as AddressInfo).port}`,
  JOB_CHANNEL: { getByName: () => channel } as never,
}
const site = await openSite(overrides, await ownDatabase())

/** All but our calls to the database and others, whose counts an isolate writes once a minute, whatever it answers. */
async function everything(): Promise<unknown> {
  const { rows } = await site.db.$client.execute(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
  const tables = rows
    .map((row) => String(row.name))
    .filter((name) => !name.startsWith('sqlite_') && name !== 'call_counts')
  return Object.fromEntries(
    await Promise.all(
      tables.map(async (name) => [name, (await site.db.$client.execute(`SELECT * FROM ${name}`)).rows]),
    ),
  )
}

test('HEAD changes nothing, whatever GET does there', async () => {
  const { userId, signInId, cookie } = await site.signInAs('admin')
  const waiting = await site.signInAs('unconfirmed')
  const now = Date.now()
  await site.db
    .update(signIns)
    .set({ lastSeenAt: now - TEN_MINUTES })
    .where(eq(signIns.id, signInId))
  const link = { userId: waiting.userId, purpose: 'confirm' as const, createdAt: now, expiresAt: now + TEN_MINUTES }
  await site.db.insert(emailTokens).values({ hash: hashEmailToken('the-token'), ...link })
  const page = { planType: 'basic' as const, stripeSessionId: 'cs_1', status: 'open' as const, createdAt: now }
  await site.db.insert(checkouts).values({ id: 'checkout_1', userId, ...page })

  // /subscriptions/pay asks Stripe about the open invoice and stores the answer.
  const unpaid = { planType: 'basic' as const, subType: 'paid' as const, status: 'past_due', hours: 20 }
  await site.db
    .insert(plans)
    .values({ id: 'sub_1', userId, stripeSubscriptionId: 'sub_1', ...unpaid, anchor: now, createdAt: now })

  const before = await everything()
  const paths = new Set(app.routes.filter((route) => route.method === 'GET').map((route) => route.path))
  expect(paths.size).toBeGreaterThan(20)
  for (const path of paths) {
    const response = await site.request(`${path}?confirmation_token=the-token&checkout=done`, {
      method: 'HEAD',
      headers: {
        // A flash message waiting for the next page.
        Cookie: `${cookie}; flash=waits`,
        Origin: SITE,
        Upgrade: 'websocket',
        'Sec-WebSocket-Protocol': 'actioncable-v1-json',
      },
    })
    expect(response.status, path).not.toBe(500)
    expect(await response.text(), path).toBe('')
    expect(
      response.headers.getSetCookie().filter((line) => /^(flash|sign_in)=/.test(line)),
      path,
    ).toEqual([])
  }
  await site.settle()
  expect(await everything()).toEqual(before)
  expect(calls).toEqual([])
  // EC2 does not answer here.
  const failed = site.takeLines().map(({ event, path }) => `${event} ${path}`)
  expect(failed.sort()).toEqual([
    'request_failed /admin/drift',
    'request_failed /api/v1/instances',
    'request_failed /console',
  ])
})
