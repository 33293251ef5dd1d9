import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { openSite } from '../../../../testing/stack/site.ts'

const site = await openSite({ VERSION: 'abc1234' })
const ask = async (path: string, at = site) => {
  const response = await at.request(path)
  return [response.status, await response.json()]
}

test('says that it is running, and which commit', async () => {
  expect(await ask('/healthz')).toEqual([200, { status: 'ok', version: 'abc1234' }])
  expect(await ask('/readyz')).toEqual([200, { status: 'ready', version: 'abc1234' }])
  expect(await ask('/readyz', await openSite())).toEqual([200, { status: 'ready', version: 'local' }])
})

test('is not ready while the database does not answer', async () => {
  const alone = await openSite({ LIBSQL_URL: 'http://127.0.0.1:1' })
  expect(await ask('/healthz', alone)).toMatchObject([200, { status: 'ok' }])
  expect(await ask('/readyz', alone)).toMatchObject([503, { error: expect.stringContaining('reach our database') }])
})

test('is not ready while the database lacks a migration, and is with a newer database', async () => {
  const move = (ms: number) => site.db.run(sql`UPDATE __drizzle_migrations SET created_at = created_at + ${ms}`)
  await move(-1)
  expect(await ask('/readyz')).toMatchObject([503, { error: expect.stringContaining('older than this version') }])
  await move(2)
  expect(await ask('/readyz')).toMatchObject([200, { status: 'ready' }])
})

test('is neither healthy nor ready with a wrong setting', async () => {
  const wrong = await openSite({ MAIL_FROM: 'nobody' })
  for (const path of ['/healthz', '/readyz'])
    expect(await ask(path, wrong)).toMatchObject([503, { error: expect.stringContaining("isn't set up correctly") }])
})
