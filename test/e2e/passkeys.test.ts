import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { PASSKEY_COPIED, PASSKEY_WRONG } from '../../src/domain/factor.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { ownBrowser, pageOf, untilHydrated } from '../../testing/browser/e2e.ts'
import { type Device, type Held, withDevice } from '../../testing/browser/virtual-authenticator.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'
import { atEnd } from '../../testing/stack/at-end.ts'

const url = inject('url')
const browser = await ownBrowser()
const NARROW = { viewport: { width: 360, height: 740 } }

const credentialsOf = async ({ cdp, authenticatorId }: Held) =>
  (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials

/** The same device at another page: its passkeys, with another count of uses if you like. */
async function moveTo(page: Page, held: Held, device: Device = {}, signCount?: number): Promise<Held> {
  const there = await withDevice(page, device)
  for (const credential of await credentialsOf(held))
    await there.cdp.send('WebAuthn.addCredential', {
      authenticatorId: there.authenticatorId,
      credential: { ...credential, signCount: signCount ?? credential.signCount },
    })
  return there
}

async function fits(page: Page) {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  expect(await axeFaults(page)).toEqual([])
}

/** Adds a passkey as a person does. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto(`${url}/account_security`)
  await page.locator('summary', { hasText: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Current password').first().fill(PASSWORD)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
}

async function personWithPasskey(device: Device = {}) {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person, NARROW)
  const held = await withDevice(page, device)
  await addPasskey(page, 'My laptop')
  await page.getByText('Save these recovery codes now').waitFor()
  const codes = (await page.locator('.secret').innerText()).split('\n')
  return { person, page, held, codes }
}

/** @param offers whether the browser offers passkeys by itself: this one's devices then answer at once */
async function visitor({ offers = false } = {}): Promise<Page> {
  const page = await (await browser.newContext(NARROW)).newPage()
  if (!offers)
    await page.addInitScript(() => {
      PublicKeyCredential.isConditionalMediationAvailable = async () => false
    })
  return page
}

async function typePassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.getByText('Your password is right.').waitFor()
}

test('adds a passkey, signs in with it alone and as the second factor, confirms with it, and removes it', async () => {
  const { person, page, held, codes } = await personWithPasskey()
  expect(codes).toHaveLength(10)
  await fits(page)
  const other = await visitor()
  const theirs = await moveTo(other, held)
  await other.goto(`${url}/sign_in`)
  await other.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await other.waitForURL('**/dashboard')

  const third = await visitor()
  await moveTo(third, theirs)
  await third.goto(`${url}/sign_in`)
  await untilHydrated(third)
  await third.getByRole('button', { name: 'Sign In', exact: true }).waitFor()
  await typePassword(third, person.email)
  await fits(third)
  await third.getByRole('button', { name: 'Use your passkey' }).click()
  await third.waitForURL('**/dashboard')

  // Any form that asks for the password.
  await third.goto(`${url}/settings/developers`)
  const tokens = third.getByRole('region', { name: 'API tokens' })
  await tokens.getByText('New token').click()
  await tokens.getByLabel('Name').fill('CI')
  await tokens.getByRole('button', { name: 'Use your passkey' }).click()
  await third.getByText('Passkey used. Now finish the form.').waitFor()
  await fits(third)
  await tokens.getByLabel('Current password').fill(PASSWORD)
  await tokens.getByRole('button', { name: 'Create' }).click()
  await third.getByText('pg_').first().waitFor()

  // The profile sends its form by script.
  await third.goto(`${url}/account_overview`)
  await untilHydrated(third)
  await third.getByText('Change password (optional)').click()
  await third.getByLabel('Current password').fill(PASSWORD)
  await third.getByLabel('New password', { exact: true }).fill('another horse 10')
  await third.getByLabel('Confirm new password').fill('another horse 10')
  await third.getByRole('button', { name: 'Use your passkey' }).click()
  await third.getByText('Passkey used. Now finish the form.').waitFor()
  await third.getByRole('button', { name: 'Save changes' }).click()
  await third.getByText('Profile updated successfully!').waitFor()

  await third.goto(`${url}/account_security`)
  await fits(third)
  await third.getByText('My laptop').click()
  await fits(third)
  const form = third.getByRole('listitem').filter({ hasText: 'My laptop' })
  await form.getByLabel('Current password').fill('another horse 10')
  await form.getByRole('button', { name: 'Use your passkey' }).click()
  await form.getByText('Passkey used.').waitFor()
  await form.getByRole('button', { name: 'Remove My laptop' }).click()
  await third.getByText('The passkey is removed.').waitFor()
})

test('the browser offers it where the email is typed, without a click', async () => {
  const { held } = await personWithPasskey()
  const page = await visitor({ offers: true })
  await moveTo(page, held)
  await page.goto(`${url}/sign_in`)
  await page.waitForURL('**/dashboard')
})

test('a click ends the offer, even one that comes before the browser has said whether it can make one', async () => {
  const page = await visitor({ offers: true })
  await page.addInitScript(() => {
    const calls: string[] = []
    const said = new Promise<boolean>((resolve) => Object.assign(window, { calls, say: () => resolve(true) }))
    PublicKeyCredential.isConditionalMediationAvailable = () => said
    navigator.credentials.get = (how) => {
      calls.push(how?.mediation ?? 'click')
      return new Promise(() => {})
    }
  })
  let asked = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/users/sign_in/passkey/options')) asked += 1
  })
  await page.goto(`${url}/sign_in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  const calls = () => page.evaluate(() => (window as unknown as { calls: string[] }).calls)
  await expect.poll(calls).toEqual(['click'])
  // Whatever it leads to begins before the next request.
  await page.evaluate(async () => {
    ;(window as unknown as { say: () => void }).say()
    await fetch('/robots.txt')
  })
  expect([asked, await calls()]).toEqual([1, ['click']])
})

test('a key that keeps no passkeys is a second factor, and signs in nobody alone', async () => {
  const { person, held } = await personWithPasskey({ hasResidentKey: false })
  expect(await credentialsOf(held)).toMatchObject([{ isResidentCredential: false }])
  const page = await visitor()
  await moveTo(page, held, { hasResidentKey: false })
  await page.goto(`${url}/sign_in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('No passkey was used. You can try again.').waitFor()
  await typePassword(page, person.email)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.waitForURL('**/dashboard')
})

test('without the device knowing its owner, it signs in nobody alone', async () => {
  const { person, held } = await personWithPasskey()
  const page = await visitor()
  const { cdp, authenticatorId } = await moveTo(page, held)
  await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId, isBadUV: true })
  await page.goto(`${url}/sign_in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText(PASSKEY_WRONG).waitFor()
  await typePassword(page, person.email)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.waitForURL('**/dashboard')
})

test('a copy whose counter goes back is refused, and a recovery code still signs in', async () => {
  const { person, held, codes } = await personWithPasskey()
  const first = await visitor()
  await moveTo(first, held, {}, 40)
  await first.goto(`${url}/sign_in`)
  await first.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await first.waitForURL('**/dashboard')
  const page = await visitor()
  await moveTo(page, held, {}, 3)
  await page.goto(`${url}/sign_in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText(PASSKEY_COPIED).waitFor()
  await typePassword(page, person.email)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.getByText(PASSKEY_COPIED).first().waitFor()
  await page.getByLabel('Recovery code').fill(codes[0] ?? '')
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.waitForURL('**/dashboard')
})

test('refuses what the browser signed for a page of another origin', async () => {
  const { held } = await personWithPasskey()
  const page = await visitor()
  await page.goto(`${url}/sign_in`)
  const call = (path: string, body: object) =>
    page.evaluate(
      async ([path, body]) => {
        const token = document.querySelector<HTMLMetaElement>('meta[name=csrf-token]')?.content ?? ''
        const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': token }
        return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
      },
      [path, body] as const,
    )
  const { challenge } = await call('/users/sign_in/passkey/options', {})
  // Another program's page on the same host: browsers let it ask for the host's passkeys.
  const elsewhere = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<title>x</title>'),
  )
  await new Promise<void>((listening) => elsewhere.listen(0, 'localhost', listening))
  atEnd(() => void elsewhere.close())
  const phishing = await visitor()
  await moveTo(phishing, held)
  await phishing.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}`)
  const response = await phishing.evaluate(async (challenge) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ challenge, rpId: 'localhost' })
    const used = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
    return used.toJSON()
  }, challenge)
  expect(await call('/users/sign_in/passkey', { challenge, response })).toMatchObject({ error: PASSKEY_WRONG })
})

test('says what passkeys need, without scripts and where the browser has none', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person, { ...NARROW, javaScriptEnabled: false })
  await page.goto(`${url}/account_security`)
  await page.locator('summary', { hasText: 'Add a passkey' }).click()
  expect(await page.locator('main').innerText()).toContain('Passkeys need JavaScript, which is off in this browser.')
  expect(await page.getByRole('button', { name: 'Add a passkey' }).isDisabled()).toBe(true)
  const old = await pageOf(browser, url, await newPerson(url), NARROW)
  await old.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'))
  await old.goto(`${url}/account_security`)
  await old.locator('summary', { hasText: 'Add a passkey' }).click()
  await old.getByText("This browser can't use passkeys.").waitFor()
  expect(await old.getByRole('button', { name: 'Add a passkey' }).isDisabled()).toBe(true)
})
