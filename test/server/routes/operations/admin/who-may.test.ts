import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signIns } from '../../../../../db/schema/accounts.ts'
import { READ_WITHIN_MS } from '../../../../../src/domain/audit.ts'
import { routes as table } from '../../../../../src/server/app.ts'
import { openAdminConsole } from '../../../../../testing/people/admin-console.ts'
import { openPage, SITE } from '../../../../../testing/stack/site.ts'

const { site, db, admin, act, open, actsOn, newRun } = await openAdminConsole()

test('nothing happens without a reason of at most 200 characters and a tick', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}/suspend`
  for (const body of [{ reason: ' ' }, { confirmed: false }, { reason: 'x'.repeat(201) }])
    expect((await act(at, body)).status).toBe(422)
  expect(await actsOn(ada.userId)).toEqual([])
  expect((await act(at, { reason: 'x'.repeat(200) })).status).toBe(200)
})

test('admins can act on each other, but not on themselves', async () => {
  const run = await newRun(admin.userId)
  const self = `/admin/people/${admin.userId}`
  const own = [`${self}/suspend`, `${self}/lift`, `${self}/plan`, `${self}/end_plan`, `${self}/sign_out`]
  for (const path of [...own, `/admin/runs/${run}/stop`])
    expect((await act(path, { plan: 'premium' })).status, path).toBe(403)
  expect(await actsOn(admin.userId)).toEqual([])
  const other = await site.signInAs('admin')
  expect((await act(`/admin/people/${other.userId}/sign_out`)).status).toBe(200)
  expect((await open(self)).text).toContain('This is your own account')
})

test('after 15 minutes, an admin must confirm the password first, and then returns', async () => {
  const late = await site.signInAs('admin')
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  const age = (ms: number) =>
    db
      .update(signIns)
      .set({ createdAt: Date.now() - ms })
      .where(eq(signIns.id, late.signInId))
  await age(14.9 * 60_000)
  expect((await open(at, late.cookie)).text).toContain('Suspend…')
  await age(15 * 60_000)
  const page = await open(at, late.cookie)
  expect(page.text).toContain(`/admin/confirm?to=${encodeURIComponent(at)}`)
  expect(page.text).not.toContain('Suspend…')
  expect((await act(`${at}/suspend`, {}, late.cookie)).status).toBe(403)

  const { cookie, token } = await openPage(site, late.cookie)
  const post = (path: string, fields: Record<string, string>) =>
    site.request(path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Sec-Fetch-Site': 'same-origin',
        Referer: SITE + at,
        Cookie: cookie,
      },
      body: new URLSearchParams({ authenticity_token: token, ...fields }).toString(),
    })
  const sent = await post(`${at}/suspend`, { reason: 'x', confirmed: '1' })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, `/admin/confirm?to=${encodeURIComponent(at)}`])
  const wrong = await post('/admin/confirm', { to: at, 'user[current_password]': 'wrong' })
  expect([wrong.status, wrong.headers.get('Location')]).toEqual([303, '/admin/confirm'])
  expect(await actsOn(ada.userId)).toEqual([])

  await db.update(signIns).set({ passwordAt: Date.now() }).where(eq(signIns.id, late.signInId))
  const done = await post(`${at}/suspend`, { reason: 'x', confirmed: '1' })
  expect([done.status, done.headers.get('Location')]).toEqual([303, at])
  expect(await actsOn(ada.userId)).toHaveLength(1)
})

test('after 12 hours, an admin reads nothing more of the console before confirming, and then returns', async () => {
  const late = await site.signInAs('admin')
  const get = (path: string, more: object = {}) => site.request(path, { headers: { Cookie: late.cookie, ...more } })
  const age = (ms: number) =>
    db
      .update(signIns)
      .set({ createdAt: Date.now() - ms })
      .where(eq(signIns.id, late.signInId))
  const read = Object.entries(table.facts).filter(([at, { access }]) => at.startsWith('GET ') && access === 'admin')
  const open = read.filter(([, { withoutProof }]) => withoutProof).map(([at]) => at)
  expect([read.length, open]).toEqual([expect.any(Number), ['GET /admin/confirm']])
  for (const [at, { kind, file, withoutProof }] of read) {
    const path = `${at.slice('GET '.length).replace(':id', 'one')}?act=lift`
    await age(READ_WITHIN_MS - 60_000)
    const before = await get(path)
    expect([303, 403], path).not.toContain(before.status)
    await age(READ_WITHIN_MS)
    const after = await get(path, { Referer: `${SITE}/admin/audit?act=lift` })
    if (withoutProof) expect(after.status).toBe(200)
    else if (kind === 'page') {
      // A download leads back to the page with its link.
      const to = new URLSearchParams({ to: file ? '/admin/audit?act=lift' : path })
      expect([after.status, after.headers.get('Location')], path).toEqual([303, `/admin/confirm?${to}`])
    } else
      expect([after.status, await after.json()], path).toMatchObject([
        403,
        { code: 'forbidden', page: '/admin/confirm', error: expect.stringContaining('12 hours') },
      ])
  }
  // What everyone has stays open, and the page leads there.
  expect((await get('/dashboard')).status).toBe(200)
  const confirm = async () => (await get('/admin/confirm?to=/admin/audit')).text()
  expect(await confirm()).toContain('<a href="/dashboard">Back to the dashboard</a>')
  await db.update(signIns).set({ passwordAt: Date.now() }).where(eq(signIns.id, late.signInId))
  expect((await get('/admin/audit.csv')).status).toBe(200)
  expect(await confirm()).toContain('<a href="/admin/audit">Back without changes</a>')
})

test('returns only to pages of the console', async () => {
  for (const to of [
    '//evil.example',
    'https://evil.example/admin',
    '/admin/../dashboard',
    '/dashboard',
    '/admin\\evil',
  ])
    expect((await open(`/admin/confirm?to=${encodeURIComponent(to)}`)).text).toContain(
      'name="to" value="/admin/people"',
    )
  const { text } = await open('/admin/confirm?to=/admin/audit?act=lift')
  expect(text).toContain('name="to" value="/admin/audit?act=lift"')
})
