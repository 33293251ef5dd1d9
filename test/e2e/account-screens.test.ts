import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { ownBrowser, pageOf, stopClock, untilHydrated } from '../../testing/browser/e2e.ts'
import { confirmationToken, newPerson, newUnconfirmed, PASSWORD } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

test('a confirmed address leads to the sign-in screen after ten seconds, unless they press "Stay here"', async () => {
  const page = await browser.newPage()
  await stopClock(page)
  const { email } = await newUnconfirmed(url)
  const link = `${url}/confirm_email?confirmation_token=${await confirmationToken(url, email)}`
  await page.goto(link)
  await page.getByText('Your email address is confirmed.').waitFor()
  await page.getByText('Redirecting in 10 seconds').waitFor({ state: 'attached' })
  expect(await page.getByRole('link', { name: 'Sign in now' }).getAttribute('href')).toBe('/sign_in')
  for (let second = 9; second >= 1; second--) {
    await page.clock.runFor(1_000)
    await page.getByText(`Redirecting in ${second} second`).waitFor({ state: 'attached' })
  }
  expect(page.url()).toBe(link)
  await page.clock.runFor(1_000)
  await page.waitForURL('**/sign_in')

  await page.goto(link)
  await page.getByRole('button', { name: 'Stay here' }).click()
  await page.clock.runFor(60_000)
  await page.getByText('Your email address is confirmed.').waitFor()
  expect(page.url()).toBe(link)
})

test('an expired link shows the sentence; requesting a new one leads to sign-in after five seconds', async () => {
  const page = await browser.newPage()
  await stopClock(page)
  await page.goto(`${url}/confirm_email?confirmation_token=expired`)
  await page.getByText('Invalid or expired confirmation link. You can request a new confirmation link below:').waitFor()
  await page.getByLabel('Email').fill('nobody')
  await page.getByRole('button', { name: 'Resend confirmation email' }).click()
  await page.getByText('Please enter a valid email.').waitFor()
  await page.getByLabel('Email').fill(`${randomUUID()}@example.com`)
  await page.getByRole('button', { name: 'Resend confirmation email' }).click()
  await page.getByText('Confirmation email sent. Please check your inbox.').waitFor()
  // One tick at a time, because each sets the next.
  for (let second = 0; second < 5; second++) await page.clock.runFor(1_000)
  await page.waitForURL('**/sign_in')
})

/** What the browser fires when it restores a page from the back/forward cache. */
const bringBack = (page: Page) =>
  page.evaluate(() => void window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))

test('covers a restored page until it knows who is signed in, and reloads it if nobody is', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person)
  await page.goto(`${url}/account_overview`)
  await untilHydrated(page)
  const cover = page.locator('#session-check')
  expect(await cover.isVisible()).toBe(false)

  let answer = () => {}
  await page.route('**/get_session', async (route) => {
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    await route.continue()
  })
  await bringBack(page)
  await cover.waitFor({ state: 'visible' })
  await expect.poll(() => page.getByText('Checking your session…').count()).toBe(1)
  answer()
  await cover.waitFor({ state: 'hidden' })
  expect(page.url()).toBe(`${url}/account_overview`)

  await page.unroute('**/get_session')
  await person.request('DELETE', '/users/sign_out')
  await bringBack(page)
  await page.waitForURL('**/sign_in')
})

test('a page that is signing out asks for no news anymore', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  await stopClock(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`${url}/account_overview`)
  await page.locator('.bell[aria-expanded]').waitFor()
  const hearNews = async () => {
    await page.evaluate(() => void document.dispatchEvent(new Event('cable')))
    // Twice this is less than the wait for the socket, whose script loads then.
    await page.clock.runFor(900)
  }
  await hearNews()
  await expect.poll(() => asked).toContain('/notices/latest')

  // It stays on the page as it does until the server has answered.
  await page.locator('form[action="/users/sign_out"]').evaluate((form) => {
    form.addEventListener('submit', (event) => event.preventDefault())
  })
  await page.getByRole('button', { name: /^Hi / }).click()
  await page.getByRole('button', { name: 'Sign Out' }).click()
  asked.length = 0
  await hearNews()
  // Requests are reported in their order.
  await page.evaluate(() => fetch('/robots.txt'))
  expect(asked).toEqual(['/robots.txt'])
})

test('a page whose bootstrap block is corrupted says so and can be refreshed', async () => {
  const page = await browser.newPage()
  await page.route('**/sign_in', async (route) => {
    const response = await route.fetch()
    const html = (await response.text()).replace(/(<script id="bootstrap"[^>]*>)[^<]*/, '$1{"user":')
    await route.fulfill({ response, body: html })
  })
  await page.goto(`${url}/sign_in`)
  await page.getByText('Something went wrong with your session.').waitFor()
  await page.unroute('**/sign_in')
  await page.getByRole('button', { name: 'Refresh Page' }).click()
  await page.getByText('Something went wrong with your session.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Sign In', exact: true }).waitFor()
})

test.each([
  ['Latin', 'Wolfeschlegelsteinhausenbergerdorff'],
  ['Arabic', 'عبد الرحمن بن محمد بن عبد الله الخوارزمي'],
])('a long %s name in a narrow top bar is cut off at its end', async (_, name) => {
  const page = await pageOf(browser, url, await newPerson(url, name))
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto(`${url}/devices`)
  const button = page.getByRole('button', { name: `Hi ${name}`, exact: true })
  expect((await button.innerText()).trim()).toBe(`Hi ${name}`)
  const seen = await button.locator('span').evaluate((span) => {
    const box = span.getBoundingClientRect()
    const text = span.lastChild as Text
    // The first letter after the greeting, and one of the last.
    return ['Hi '.length, text.length - 2].map((at) => {
      const letter = document.createRange()
      letter.setStart(text, at)
      letter.setEnd(text, at + 1)
      const { left, right } = letter.getBoundingClientRect()
      return left >= box.left && right <= box.right
    })
  })
  expect(seen).toEqual([true, false])

  await page.goto(`${url}/account_overview`)
  await page.getByLabel('Name', { exact: true }).fill('Grace')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('button', { name: 'Hi Grace', exact: true }).waitFor()
  await page.context().close()
})

test('a Copy button takes a new token whole, and examples from the docs', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
  await page.goto(`${url}/settings/developers`)
  const tokens = page.getByRole('region', { name: 'API tokens' })
  await tokens.getByText('New token').click()
  await tokens.getByLabel('Name').fill('CI')
  await tokens.getByLabel('Current password').fill(PASSWORD)
  await tokens.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await clipboard()).toBe(await page.locator('.secret').textContent())
  expect(await clipboard()).toMatch(/^pg_\w{36}$/)

  await page.goto(`${url}/docs/cli`)
  const example = page.locator('.copyable').first()
  await example.getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Copied.').waitFor({ state: 'attached' })
  expect(await clipboard()).toBe(await example.locator('code').textContent())
})

test('a double click creates one token, and back on the page another one', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  const posts: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url() === `${url}/api_tokens`) posts.push(request.url())
  })
  const create = async (name: string) => {
    const tokens = page.getByRole('region', { name: 'API tokens' })
    await tokens.getByText('New token').click()
    await tokens.getByLabel('Name').fill(name)
    await tokens.getByLabel('Current password').fill(PASSWORD)
    await tokens.getByRole('button', { name: 'Create token' }).dblclick()
    await page.getByText(`Your new token “${name}” is ready.`).waitFor()
  }
  await page.goto(`${url}/settings/developers`)
  await page.waitForLoadState('networkidle')
  await create('CI')
  await page.waitForLoadState('networkidle')
  await create('Laptop')
  expect(posts).toHaveLength(2)
  expect(await page.getByRole('button', { name: /^Revoke/ }).count()).toBe(2)
})

test('a message at a fragment takes the focus', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  await page.goto(`${url}/settings/developers`)
  const tokens = page.getByRole('region', { name: 'API tokens' })
  await tokens.getByText('New token').click()
  await tokens.getByLabel('Name').fill('CI')
  await tokens.getByLabel('Current password').fill('not this one')
  await tokens.getByRole('button', { name: 'Create token' }).click()
  await page.waitForURL('**/settings/developers#api_tokens')
  await tokens.locator('.alert:focus').waitFor()
})

test('where the browser refuses to copy, the text is selected, and the button says what to press', async () => {
  const page = await browser.newPage()
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
  })
  await page.goto(`${url}/docs/cli`)
  const example = page.locator('.copyable').first()
  await example.getByRole('button', { name: 'Copy' }).click()
  await example.getByRole('button', { name: 'Press Ctrl+C' }).waitFor()
  const selected = await page.evaluate(() => getSelection()?.toString())
  expect(selected?.trim()).toBe((await example.locator('code').textContent())?.trim())
})
