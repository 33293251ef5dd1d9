import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { confirmStop, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'

/** The main job as a screen reader hears it: the accessibility tree and what live regions announce. */

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

/** The accessibility tree, line by line. */
async function heard(page: Page): Promise<string[]> {
  const tree = await page.locator('body').ariaSnapshot()
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
