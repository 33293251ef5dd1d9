import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../../../db/schema/billing.ts'
import { environments } from '../../../../db/schema/fleet.ts'
import {
  ENVIRONMENT_ADDED,
  ENVIRONMENT_REMOVED,
  NAME_TAKEN,
  OWN_NEEDS_PLAN,
} from '../../../../src/domain/own-environment.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`
const HARBOR = { name: 'Harbor', image: `ghcr.io/ada/harbor@${DIGEST}` }

async function setup(planType: 'basic' | 'premium' = 'premium') {
  const account = openAccount()
  const user = await signedInUser(account.browser, account)
  const { db } = account.ctx
  const setPlan = async (type: 'basic' | 'premium') => {
    await db.delete(plans).where(eq(plans.userId, user.id))
    const now = account.clock.ms
    const paid = { planType: type, subType: 'paid' as const, status: 'active', hours: 30, anchor: now, createdAt: now }
    await db.insert(plans).values({ id: newId('sub'), userId: user.id, ...paid })
  }
  await setPlan(planType)
  const page = async () => (await account.browser.request('/settings/servers')).text()
  const add = (fields: object = HARBOR) => account.browser.json('POST', '/api/v1/environments', fields)
  return { ...account, user, setPlan, page, add }
}

test('adds an environment, lists it with the catalog, on its page, and in the export, and removes it', async () => {
  const { add, browser, page, clock } = await setup()
  const response = await add()
  expect(response.status).toBe(201)
  const environment = { ...HARBOR, digest: DIGEST, created_at: new Date(clock.ms).toISOString() }
  expect(await response.json()).toEqual({ environment, message: ENVIRONMENT_ADDED })
  const { environments: listed } = (await (await browser.request('/api/v1/environments')).json()) as {
    environments: { name: string; available: boolean }[]
  }
  expect(listed.at(-1)).toMatchObject({ name: 'Harbor', available: true })
  expect(await page()).toContain(HARBOR.image)
  expect(await page()).toContain('The same image each time')
  expect(await (await browser.request('/api/v1/users/export')).json()).toMatchObject({ environments: [environment] })
  const removed = await browser.json('DELETE', '/api/v1/environments/harbor')
  expect([removed.status, await removed.json()]).toEqual([200, { message: ENVIRONMENT_REMOVED }])
  expect(await page()).toContain('No environments of your own yet.')
  expect((await browser.json('DELETE', '/api/v1/environments/harbor')).status).toBe(404)
})

test('says that a tag may change, and refuses a taken name and a wrong image with the field', async () => {
  const { add, page } = await setup()
  await add({ name: 'Harbor', image: 'ada/harbor:1' })
  expect(await page()).toContain('What its tag names at the start')
  const taken = await add()
  expect([taken.status, await taken.json()]).toMatchObject([409, { error: NAME_TAKEN }])
  const wrong = await add({ name: 'Valley', image: 'no image' })
  expect([wrong.status, await wrong.json()]).toMatchObject([422, { error: /image reference/ }])
})

test('works as a plain form, which keeps what was typed', async () => {
  const { browser, page } = await setup()
  await browser.open('/settings/servers')
  const added = await browser.form('/api/v1/environments', HARBOR)
  expect([added.status, added.headers.get('location')]).toEqual([303, '/settings/servers#environments'])
  expect(await page()).toContain(ENVIRONMENT_ADDED)
  await browser.form('/api/v1/environments', { about: 'environments', name: 'Valley', image: 'no <image>' })
  expect(await page()).toContain('value="no &lt;image&gt;"')
  await browser.form('/api/v1/environments/Harbor', { _method: 'delete' })
  expect(await page()).toContain(ENVIRONMENT_REMOVED)
})

test('without the plan, the page names it and keeps what there is, and a call is refused', async () => {
  const { add, page, setPlan } = await setup()
  await add()
  await setPlan('basic')
  const html = await page()
  expect(html).toContain(OWN_NEEDS_PLAN)
  expect(html).toContain(HARBOR.image)
  expect(html).not.toContain('New environment')
  const refused = await add({ ...HARBOR, name: 'Valley' })
  expect([refused.status, await refused.json()]).toMatchObject([403, { error: OWN_NEEDS_PLAN }])
})

test('a closed account leaves no images behind', async () => {
  const { add, browser, ctx, user } = await setup()
  await add()
  expect((await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })).status).toBe(200)
  expect(await ctx.db.$count(environments, eq(environments.userId, user.id))).toBe(0)
})
