import { expect, test } from 'vitest'
import { newAddress, openAccount, PASSWORD, signedInUser } from '../../../../../testing/people/sign-up.ts'

test('plain HTML forms: every step answers 303, with its sentence on the next page', async () => {
  const { account, browser } = openAccount()
  const email = newAddress()
  await browser.open('/sign_up')
  const fields = {
    'user[name]': 'Ada',
    'user[email]': email,
    'user[password]': PASSWORD,
    'user[password_confirmation]': PASSWORD,
  }
  const refused = await browser.form('/users', fields)
  expect([refused.status, refused.headers.get('Location')]).toEqual([303, '/sign_up'])
  expect((await browser.open('/sign_up')).flash).toEqual({
    kind: 'danger',
    code: 'invalid',
    message: 'You must accept the Terms of Service.',
    field: 'terms_of_service',
    values: { 'user[name]': 'Ada', 'user[email]': email },
  })
  expect((await browser.open('/sign_up')).flash).toBeNull()

  const created = await browser.form('/users', { ...fields, 'user[terms_of_service]': '1' })
  expect([created.status, created.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect((await browser.open('/sign_in')).flash).toEqual({
    kind: 'success',
    message: 'Account created but you need to confirm you email!',
    values: { 'user[email]': email },
  })
  await account.settle()
  const link = /confirmation_token=([\w-]+)/.exec(account.sent[0]?.text ?? '')?.[1]
  const confirmed = await browser.request(`/users/confirmation?confirmation_token=${link}`, {
    headers: { Accept: 'text/html,*/*' },
  })
  expect([confirmed.status, confirmed.headers.get('Location')]).toEqual([303, '/sign_in'])

  await browser.open('/sign_in')
  const wrong = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': 'wrong' })
  expect(wrong.headers.get('Location')).toBe('/sign_in')
  expect((await browser.open('/sign_in')).flash).toMatchObject({
    message: 'Invalid email or password.',
    values: { 'user[email]': email },
  })
  const signedIn = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': PASSWORD })
  expect([signedIn.status, signedIn.headers.get('Location')]).toEqual([303, '/dashboard'])

  await browser.open('/account_overview')
  const renamed = await browser.form('/users', { _method: 'put', 'user[name]': 'Grace' })
  expect([renamed.status, renamed.headers.get('Location')]).toEqual([303, '/account_overview'])
  expect((await browser.open('/account_overview')).flash).toMatchObject({
    kind: 'success',
    message: 'Profile updated successfully!',
  })
  const out = await browser.form('/users/sign_out', { _method: 'delete' })
  expect([out.status, out.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect(await browser.open('/dashboard')).toMatchObject({ status: 302, location: '/sign_in' })
})

test('_method counts only in form bodies, and only for put, patch, and delete', async () => {
  const { account, browser } = openAccount()
  await signedInUser(browser, account)
  const before = browser.cookies.get('sign_in')
  await browser.json('POST', '/users/sign_out?_method=delete', { _method: 'delete' })
  expect(browser.cookies.get('sign_in')).toBe(before)
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
  await browser.open('/dashboard')
  for (const method of ['get', 'post', 'options', '']) {
    const refused = await browser.form('/users/sign_out', { _method: method })
    expect([refused.status, refused.headers.get('Location')]).toEqual([303, '/dashboard'])
  }
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
})
