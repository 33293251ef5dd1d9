import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { serverRequests } from '../../../db/schema/fleet.ts'
import { openSite, SITE } from '../../../testing/stack/site.ts'

const site = await openSite()
const ask = (cookie: string) =>
  site.request('/api/servers/request_more', { method: 'POST', headers: { Cookie: cookie, Origin: SITE } })
const wishes = (userId: string) => site.db.$count(serverRequests, eq(serverRequests.userId, userId))
const mailed = async () => {
  await site.settle()
  return site.mails.filter(({ subject }) => subject === 'A customer requested more servers').length
}

test('a request for more servers is saved and mailed to the operator', async () => {
  const { userId, cookie } = await site.signInAs('user')
  const before = await mailed()
  expect((await ask(cookie)).status).toBe(202)
  expect([await wishes(userId), (await mailed()) - before]).toEqual([1, 1])
})

test('a second one within the hour is refused with the time to wait', async () => {
  const { userId, cookie } = await site.signInAs('user')
  await ask(cookie)
  const again = await ask(cookie)
  expect(again.status).toBe(429)
  const seconds = Number(again.headers.get('Retry-After'))
  expect(seconds).toBeGreaterThan(3_000)
  expect(seconds).toBeLessThanOrEqual(3_600)
  expect(await wishes(userId)).toBe(1)
})

test('counts one of several clicks at once', async () => {
  const { userId, cookie } = await site.signInAs('user')
  const before = await mailed()
  const answers = await Promise.all([ask(cookie), ask(cookie), ask(cookie), ask(cookie)])
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429])
  expect([await wishes(userId), (await mailed()) - before]).toEqual([1, 1])
})
