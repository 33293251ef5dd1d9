import { expect, test } from 'vitest'
import { accountApp, accountContext } from '../../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { newAddress, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const FAILED = 'Invalid or expired password reset link.'

async function setup() {
  const account = accountContext()
  const browser = openAppBrowser(accountApp(account.ctx))
  const user = await signedInUser(browser, account)
  const ask = async (email: string) => {
    account.sent.length = 0
    const response = await browser.json('POST', '/users/password', { user: { email } })
    await account.settle()
    return { status: response.status, body: await response.json() }
  }
  const linkToken = () => /reset_password_token=([\w-]+)/.exec(account.sent[0]?.text ?? '')?.[1] ?? ''
  const reset = (token: string, password = 'another one', password_confirmation = password) =>
    browser.json('PUT', '/users/password', { user: { reset_password_token: token, password, password_confirmation } })
  return { ...account, browser, user, ask, linkToken, reset }
}

test('a forgotten password: one link, once; every sign-in ends and the owner gets a mail', async () => {
  const { browser, user, ask, linkToken, reset, disconnected, sent, settle } = await setup()
  await ask(user.email)
  expect(sent.map((mail) => [mail.to, mail.subject])).toEqual([[user.email, 'Choose a new password']])
  const token = linkToken()
  expect(token).toMatch(/^[\w-]{43}$/)
  expect((await reset(token, 'short', 'other')).status).toBe(422)
  expect(await (await reset(token, 'Password1')).json()).toMatchObject({ error: expect.stringContaining('too common') })
  expect((await reset(token)).status).toBe(200)
  await settle()
  expect(disconnected).toEqual(['all'])
  expect(sent.at(-1)?.subject).toBe('Your password was changed')
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(401)
  const again = await reset(token, 'a third one')
  expect([again.status, await again.json()]).toEqual([
    422,
    { code: 'invalid', error: FAILED, message: FAILED, errors: [FAILED] },
  ])
  const signIn = (password: string) => browser.json('POST', '/users/sign_in', { user: { email: user.email, password } })
  expect((await signIn(PASSWORD)).status).toBe(401)
  expect((await signIn('another one')).status).toBe(200)
})

test('the answer is the same for an unknown address', async () => {
  const { user, ask, sent } = await setup()
  const known = await ask(user.email)
  expect(sent).toHaveLength(1)
  expect(await ask(newAddress())).toEqual(known)
  expect(sent).toHaveLength(0)
})

test('a link is dead after an hour, and once another one was used', async () => {
  const { user, ask, linkToken, reset, clock } = await setup()
  await ask(user.email)
  const first = linkToken()
  await ask(user.email)
  const second = linkToken()
  expect((await reset(second)).status).toBe(200)
  expect((await reset(first)).status).toBe(422)
  await ask(user.email)
  clock.ms += 3_600_000
  expect((await reset(linkToken())).status).toBe(422)
})

test('a link is dead once its owner has chosen a new password in the profile', async () => {
  const { browser, user, ask, linkToken, reset } = await setup()
  await ask(user.email)
  const token = linkToken()
  const change = { current_password: PASSWORD, password: 'a new one', password_confirmation: 'a new one' }
  expect((await browser.json('PUT', '/users', { user: { ...change, current_password: 'wrong' } })).status).toBe(422)
  expect((await browser.json('PUT', '/users', { user: change })).status).toBe(200)
  expect((await reset(token)).status).toBe(422)
})

test('if one link is used twice at once, one wins', async () => {
  const { user, ask, linkToken, reset } = await setup()
  await ask(user.email)
  const token = linkToken()
  const answers = await Promise.all([reset(token, 'password one'), reset(token, 'password two')])
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 422])
})

test('a dead link says so when opened, and has its address filled in; a good one asks for the password', async () => {
  const { browser, user, ask, linkToken, reset, clock } = await setup()
  const opened = async (token: string) =>
    (await browser.request(`/reset_password?reset_password_token=${token}`)).text()
  const asks = (html: string) => html.includes('name="user[password]"')
  await ask(user.email)
  const used = linkToken()
  expect([asks(await opened(used)), (await opened(used)).includes(FAILED)]).toEqual([true, false])
  await reset(used)
  await ask(user.email)
  const old = linkToken()
  clock.ms += 3_600_000
  for (const token of [used, old, 'nonsense', '']) {
    const html = await opened(token)
    expect([asks(html), html.includes(FAILED)], token).toEqual([false, true])
    expect(html.includes(`value="${user.email}"`), token).toBe(token.length > 20)
  }
})
