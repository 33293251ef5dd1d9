import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { advance, confirmStop, signInByHand, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { withDevice } from '../../testing/browser/virtual-authenticator.ts'
import { totpAt } from '../../testing/people/authenticator.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'

/** What a screen reader hears: the accessibility tree and what live regions announce. */

const world = stackAndBrowser()

test('sign in, start, open, and stop, with only what is read out', async () => {
  const { email } = await newPerson(world.url, 'Ada')
  const page = await world.browser.newPage()
  await page.goto(`${world.url}/sign_in`)
  expect(await page.title()).toBe('Sign In · Proving Ground')
  expect(await heard(page)).toEqual(
    expect.arrayContaining([
      'heading "Sign In" [level=1]',
      'textbox "Email"',
      'textbox "Password"',
      'button "Sign In"',
    ]),
  )
  await page.getByRole('textbox', { name: 'Email' }).fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.waitForURL('**/dashboard')

  const said = await listen(page)
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  const before = await heard(page)
  for (const landmark of ['link "Skip to content"', 'banner', 'navigation "Main"', 'main', 'contentinfo'])
    expect(before, landmark).toContain(landmark)
  expect(before.filter((line) => line.startsWith('heading'))).toEqual([
    'heading "Dashboard" [level=1]',
    'heading "Actions" [level=2]',
    'heading "Monthly Usage" [level=2]',
    'heading "Sessions" [level=2]',
    'heading "Your first flight" [level=2]',
    'heading "Start a server" [level=3]',
    'heading "Fly" [level=3]',
    'heading "Stop and see the bill" [level=3]',
  ])
  expect(before.join('\n')).toMatch(/Free trial:.*30\.00.*minutes left\. Startup time doesn’t count\./s)

  await page.getByRole('button', { name: 'Start Server', description: /^Free in your trial/ }).click()
  await expect.poll(said).toContain('Your server is running.')
  const address = page.getByRole('row', { name: /running/ }).getByRole('link', { name: /^127/ })
  await address.waitFor()
  expect(await heard(page)).toContain(`link "${await address.textContent()}"`)
  const start = page.getByRole('button', { name: 'Start Server', description: /^One server at a time/ })
  expect(await start.isDisabled()).toBe(true)

  // Buttons with the same text are told apart by their session.
  await page.getByRole('button', { name: /^Stop ses_/ }).click()
  await confirmStop(page)
  await expect.poll(said).toMatch(/Server stopped\. You used/)
  await page.getByRole('row', { name: /stopped/ }).waitFor()

  const everything = await said()
  for (const sentence of ['Starting server!', 'Your server is running.', 'Stopping server...', 'Server stopped.'])
    expect(everything.split(sentence).length - 1, `${sentence} in:\n${everything}`).toBe(1)
  // Ticking seconds can be read but are not announced.
  expect(everything).not.toMatch(/^\d+s/m)
  await page.context().close()
})

test("confirm it's you in the console, by code and by passkey, and act, with only what is read out", async () => {
  const page = await world.browser.newPage()
  const HOUR = 3600
  let ahead = 0
  const later = async (seconds: number) => {
    ahead += seconds * 1000
    await advance(world.url, seconds)
  }
  const main = async () => {
    expect(await axeFaults(page)).toEqual([])
    return (await heard(page, 'main')).filter((line) => !/^(main|paragraph|\/url.*)$/.test(line))
  }
  await signInByHand(page, world.url, { email: SEED_EMAILS.admin, password: SEED_PASSWORD })
  await page.goto(`${world.url}/account_security`)
  await page.locator('summary', { hasText: 'Add an app' }).click()
  await page.getByRole('form', { name: 'Add an app' }).getByLabel('Current password').fill(SEED_PASSWORD)
  await page.getByRole('button', { name: 'Add an app' }).click()
  const secret = await page.locator('.secret').innerText()
  const code = () => totpAt(secret, Date.now() + ahead)
  await page.getByLabel('Code from the app').fill(code())
  await page.getByRole('button', { name: 'Confirm' }).click()
  const [recovery = ''] = (await page.locator('.secret').innerText()).split('\n')

  await later(HOUR / 2)
  await page.goto(`${world.url}/admin/places`)
  await page.getByRole('link', { name: 'confirm it’s you' }).click()
  expect(await page.title()).toBe('Confirm it’s you · Proving Ground')
  const asked = [
    'heading "Confirm it’s you" [level=1]',
    "paragraph: The console shows and changes other people's accounts. You can make changes for 15 minutes, and read for 12 hours.",
  ]
  const hint = 'From your authenticator app, or one of your recovery codes.'
  const field = (hint: string) => ['text: Code', 'textbox "Code"', `text: ${hint}`]
  expect(await main()).toEqual([...asked, ...field(hint), 'button "Confirm"', 'link "Back without changes"'])
  const box = page.getByRole('textbox', { name: 'Code', description: hint })
  await box.fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  // The message takes the focus, so it is read out first, and the field says it as well.
  const wrong = 'This code is wrong or already used. Try the next one.'
  await page.getByRole('alert').filter({ hasText: wrong }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(wrong)
  const described = page.getByRole('textbox', { name: 'Code', description: `${wrong} ${hint}` })
  expect(await described.getAttribute('aria-invalid')).toBe('true')
  await main()
  await described.fill(code())
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.waitForURL('**/admin/places')
  await page.getByText('You can make changes for 15 minutes.').waitFor()

  await withDevice(page)
  await page.goto(`${world.url}/account_security`)
  await page.locator('summary', { hasText: 'Add a passkey' }).click()
  const add = page.getByRole('form', { name: 'Add a passkey' })
  await add.getByLabel('Current password').fill(SEED_PASSWORD)
  await add.getByLabel('Code').fill(recovery)
  await add.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Your passkey is added.').waitFor()
  await later(12 * HOUR)
  await page.goto(`${world.url}/admin/places`)
  await page.waitForURL('**/admin/confirm?**')
  const [heading = '', why = ''] = asked
  expect(await main()).toEqual([
    heading,
    'dialog "Notice"',
    'status: "Please confirm who you are: the console asks again after 12 hours."',
    'button "Dismiss"',
    why,
    'button "Use your passkey"',
    'status',
    ...field(`${hint} Leave it empty if you use your passkey.`),
    'button "Confirm"',
    'link "Back to the dashboard"',
  ])
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.waitForURL('**/admin/places')

  const person = await newPerson(world.url)
  await page.goto(`${world.url}/admin/people/${person.id}`)
  await page.getByText('Suspend…').click()
  const act = page.getByRole('group').filter({ hasText: 'Suspend…' })
  await act.getByRole('textbox', { name: 'Reason', description: 'Only the audit log shows it.' }).fill('Spam.')
  await main()
  await act.getByRole('button', { name: 'Suspend', exact: true }).click()
  const sure = 'Please check the box to confirm.'
  await page.getByRole('alert').filter({ hasText: sure }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(sure)
  const tick = act.getByRole('checkbox', { name: 'Yes, I want this', description: sure })
  expect(await tick.getAttribute('aria-invalid')).toBe('true')
  expect(await act.getByLabel('Reason').inputValue()).toBe('Spam.')
  await main()
  await tick.check()
  await act.getByRole('button', { name: 'Suspend', exact: true }).click()
  await page.getByText('Account suspended.').waitFor()
  await page.context().close()
})

/** The accessibility tree, line by line. */
async function heard(page: Page, part = 'body'): Promise<string[]> {
  const tree = await page.locator(part).ariaSnapshot()
  return tree.split('\n').map((line) => line.replace(/^\s*- /, '').replace(/:$/, ''))
}

/** Records every change inside a live region, as a screen reader would announce it; returns the record so far. */
async function listen(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    new MutationObserver((changes) => {
      for (const change of changes) {
        const at = change.target instanceof Element ? change.target : change.target.parentElement
        // The nearest region decides; one that is off announces nothing.
        const region = at?.closest('[aria-live], [role=status], [role=alert]')
        if (!region || region.getAttribute('aria-live') === 'off') continue
        if (change.type === 'characterData') said.push(change.target.textContent ?? '')
        for (const node of change.addedNodes) {
          const spoken = node.cloneNode(true)
          if (spoken instanceof Element) for (const quiet of spoken.querySelectorAll('[aria-live=off]')) quiet.remove()
          if (spoken.textContent) said.push(spoken.textContent)
        }
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  return () => page.evaluate(() => (window as unknown as { said: string[] }).said.join('\n'))
}
