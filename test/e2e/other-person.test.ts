import type { BrowserContext, Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson, PASSWORD, serversOf } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.waitForURL('**/dashboard')
}

/** Ada's browser, and a tab in which Bob can sign in. */
async function twoTabs() {
  const [ada, bob] = [await newPerson(url, 'Ada'), await newPerson(url, 'Bob')]
  const context = await browser.newContext()
  const [mine, bobs] = [await context.newPage(), await context.newPage()]
  for (const page of [mine, bobs]) {
    await page.goto(`${url}/sign_in`)
    await untilHydrated(page)
  }
  await signIn(mine, ada.email)
  const comeBob = async () => {
    await bobs.bringToFront()
    await signIn(bobs, bob.email)
  }
  return { ada, bob, context, mine, comeBob }
}

/** A tab that hears of nothing by itself: a laptop that slept, or a network that blocks sockets. */
async function deafTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.routeWebSocket('**/cable', () => {})
  await page.route(/notices.latest|get_servers|billings.summary/, (route) => route.abort())
  await page.goto(url + path)
  await untilHydrated(page)
  return page
}

const NOW_BOB = /^You're now signed in as Bob in this browser/

test("an old tab acts for nobody else: Ada's dashboard starts nothing for Bob, and her settings rename nobody", async () => {
  const { bob, context, comeBob } = await twoTabs()
  const dashboard = await deafTab(context, '/dashboard')
  const settings = await deafTab(context, '/account_overview')
  const budget = await deafTab(context, '/settings/billing')
  await comeBob()

  await dashboard.getByRole('button', { name: 'Start Server' }).click()
  await dashboard.getByText(NOW_BOB).waitFor()
  await dashboard.getByText('Hi Bob').waitFor()

  await settings.getByLabel('Name').fill('Mallory')
  await settings.getByRole('button', { name: 'Save changes' }).click()
  await settings.getByText(NOW_BOB).waitFor()
  expect(await settings.getByLabel('Name').inputValue()).toBe('Bob')

  await budget.getByLabel('Budget per month').fill('25')
  await budget.getByRole('button', { name: 'Save' }).click()
  await budget.getByText(NOW_BOB).waitFor()
  expect(await budget.getByLabel('Budget per month').inputValue()).toBe('')

  expect(await serversOf(bob)).toEqual([])
  expect((await bob.open('/settings/billing')).text).toContain('Charges this month: <strong>')
  await context.close()
})

test('an old tab notices before anyone acts: it says who is signed in now, and reloads', async () => {
  const { context, mine, comeBob } = await twoTabs()
  const settings = await context.newPage()
  const heard = settings.waitForEvent('websocket')
  await settings.goto(`${url}/account_overview`)
  await (await heard).waitForEvent('framereceived')
  const complaints = complaintsOf(mine)
  await settings.getByLabel('Name').fill('Mallory')
  await comeBob()
  for (const page of [mine, settings]) {
    await page.getByText(NOW_BOB).waitFor()
    expect(await page.getByText(NOW_BOB).evaluate((words) => words === document.activeElement)).toBe(true)
    await page.getByText('Hi Bob').waitFor()
  }
  expect(complaints).toEqual([])
  await mine.reload()
  await mine.getByText('Hi Bob').waitFor()
  expect(await mine.getByText(NOW_BOB).count()).toBe(0)
  await context.close()
})

test('an old page that only polls notices as well', async () => {
  const { context, comeBob } = await twoTabs()
  const dashboard = await context.newPage()
  await dashboard.routeWebSocket('**/cable', () => {})
  await dashboard.goto(`${url}/dashboard`)
  await untilHydrated(dashboard)
  await comeBob()
  await dashboard.getByRole('button', { name: 'Refresh' }).click()
  await dashboard.getByText(NOW_BOB).waitFor()
  await context.close()
})
