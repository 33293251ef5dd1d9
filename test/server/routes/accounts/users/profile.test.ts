import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signIns } from '../../../../../db/schema/accounts.ts'
import { openAppBrowser } from '../../../../../testing/people/app-browser.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../../testing/people/sign-up.ts'

test('the profile: a new name alone; a new password ends every other sign-in and notifies the owner', async () => {
  const { account, app, browser, ctx, disconnected, sent, settle } = openAccount()
  const { email, id } = await signedInUser(browser, account)
  const renamed = await browser.json('PUT', '/users', { user: { name: ' Zoë ', email: 'x@y.z', admin: true } })
  expect(await renamed.json()).toEqual({
    status: 'ok',
    user: { id, name: 'Zoë', email, admin: false },
    message: 'Profile updated successfully!',
  })

  const other = openAppBrowser(app)
  await other.open('/sign_in')
  await other.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  const change = { name: 'Zoë', current_password: PASSWORD, password: 'a new one', password_confirmation: 'a new one' }
  const wrong = await browser.json('PUT', '/users', { user: { ...change, current_password: 'nope' } })
  expect(wrong.status).toBe(422)
  expect(await wrong.json()).toMatchObject({ status: 'error', error: 'Your current password is incorrect.' })
  expect((await browser.json('PUT', '/users', { user: change })).status).toBe(200)
  await settle()
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
  expect((await other.request('/api/v1/users/get_session')).status).toBe(401)
  const revoked = (await ctx.db.select().from(signIns).where(eq(signIns.userId, id))).filter((row) => row.revokedAt)
  expect(disconnected).toEqual(revoked.map((row) => row.id))
  expect(revoked).toHaveLength(1)
  expect(sent.at(-1)).toMatchObject({ to: email, subject: 'Your password was changed' })
})

test.each([
  [{ name: '' }, 'Please enter your name.'],
  [{ password: 'a' }, 'Please enter your current password.'],
  [{ current_password: 'a' }, 'Please fill in both new password fields.'],
  [
    { current_password: 'a', password: 'abcdef', password_confirmation: 'abcdeg' },
    'New password and confirmation do not match.',
  ],
  [
    { current_password: 'a', password: 'abcde', password_confirmation: 'abcde' },
    'New password must be at least 6 characters.',
  ],
  [
    { current_password: PASSWORD, password: 'Password1', password_confirmation: 'Password1' },
    'This password is too common. Please choose another one.',
  ],
])('the profile refuses %j', async (fields, sentence) => {
  const { account, browser } = openAccount()
  await signedInUser(browser, account)
  const refused = await browser.json('PUT', '/users', { user: { name: 'Ada', ...fields } })
  expect([refused.status, await refused.json()]).toEqual([
    422,
    { status: 'error', code: 'invalid', error: sentence, message: sentence, errors: [sentence] },
  ])
})
