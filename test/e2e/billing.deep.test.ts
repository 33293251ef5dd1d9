import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openDatabase } from '../../db/client.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { correctBill } from '../../src/server/billing/bills/corrections.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import {
  advance,
  confirmStop,
  pageOf,
  signInByHand,
  stackAndBrowser,
  stopServer,
  untilHydrated,
} from '../../testing/browser/e2e.ts'
import { mailsTo, newPerson, PASSWORD, waitFor } from '../../testing/people/client.ts'

const DAY = 86_400
const PILOT = { email: SEED_EMAILS.pilot, password: SEED_PASSWORD }
const world = stackAndBrowser({ ec2BootMs: 1000, plansForSale: true })

/** A first start would end after four hours. */
const runUntilStopped = (page: Page) => page.getByLabel('Stop after').selectOption('Until I stop it')

/** The subjects of their mails about money, oldest first. */
async function moneyMails(email: string): Promise<string[]> {
  const subjects = (await mailsTo(world.url, email)).map(({ subject }) => subject)
  return subjects.reverse().filter((subject) => /included hours|invoice|\$/.test(subject))
}

/** A sign-in expires long before a billing cycle ends. */
async function open(page: Page, path: string, as = PILOT): Promise<void> {
  // The page before may notice its expired sign-in at this very moment, and go there.
  await waitFor(() => page.goto(`${world.url}${path}`).catch(() => null))
  if (page.url().endsWith('/sign_in')) {
    await signInByHand(page, world.url, as)
    await page.goto(`${world.url}${path}`)
  }
  await untilHydrated(page)
}

test('subscribe, use, invoice, overdue, pay, and cancel, in a browser', async () => {
  const page = await world.browser.newPage({ viewport: { width: 1280, height: 900 } })

  await open(page, '/subscriptions')
  const checkout = '**/api/v1/subscriptions/create_checkout_session'
  await page.route(checkout, (route) => route.fulfill({ status: 422, json: { Errors: ['Not now', 'nor later'] } }))
  await page.getByRole('button', { name: 'Choose Basic' }).click()
  await page.getByRole('alert').getByText('Subscription failed: Not now, nor later').waitFor()
  await page.unroute(checkout)
  await page.getByRole('button', { name: 'Choose Basic' }).click()
  await page.waitForURL('**/c/pay/**')
  await page.getByRole('link', { name: 'Back' }).click()
  await page.waitForURL('**/subscriptions')
  await page.getByRole('button', { name: 'Choose Basic' }).click()
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await page.waitForURL('**/dashboard')
  await page.getByText("You're on Basic now: 5 hours per month, on servers with up to 1 NVIDIA L4.").waitFor()

  await open(page, '/dashboard')
  await page.getByText(/^5\.00 hours left in your plan/).waitFor()
  await runUntilStopped(page)
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText('running', { exact: true }).waitFor()
  await page.getByText(/covered by your plan$/).waitFor()
  await advance(world.url, 8 * 3600)
  await page.reload()
  await page.getByRole('cell', { name: /^8h 0m \d+s ?\$5\.2\d+$/ }).waitFor()
  await page.getByRole('button', { name: /^Stop ses/ }).click()
  await confirmStop(page)
  await page
    .locator('main')
    .getByText(/^Server stopped\. You used 8h 0m \d+s: \$5\.2\d\. Startup \(\d+s\) was free\.$/)
    .first()
    .waitFor()

  await advance(world.url, 31 * DAY)
  await open(page, '/billing_history')
  const bill = page.getByRole('row').filter({ hasText: '$5.2' })
  await bill.getByText('Not paid').waitFor({ state: 'attached' })
  expect(await bill.getByText('Overdue', { exact: true }).count()).toBe(0)

  await advance(world.url, 16 * DAY)
  await open(page, '/dashboard')
  await page.getByText('Your account is suspended because an invoice is overdue.').waitFor()
  const payNow = page.getByRole('link', { name: /^Pay \$5\.2\d now$/ })
  expect(await payNow.getAttribute('href')).toMatch(/\/i\/in_/)
  await page
    .getByRole('region', { name: 'Monthly Usage' })
    .getByRole('link', { name: /^\$5\.2\d$/ })
    .waitFor()
  const start = page.getByRole('button', {
    name: 'Start Server',
    description: 'Your account is suspended until you pay the overdue invoice.',
  })
  await start.waitFor()
  expect(await start.isDisabled()).toBe(true)
  expect(await page.getByRole('link', { name: 'View and pay' }).getAttribute('href')).toBe('/billing_history')

  await open(page, '/billing_history')
  await bill.getByText('Overdue', { exact: true }).waitFor({ state: 'attached' })
  // One alert, and one button with the sum.
  expect(await page.locator('.alert').count()).toBe(1)
  const owed = page.getByRole('list', { name: 'Open invoices' })
  await owed.getByText(/^\$5\.2\d for usage, .+, overdue since \w+ \d+, \d{4}\.$/).waitFor()
  const pay = page.getByRole('link', { name: 'Pay' })
  expect(await pay.allTextContents()).toEqual([expect.stringMatching(/^Pay \$5\.2\d$/)])
  expect(await pay.getAttribute('href')).toMatch(/\/i\/in_/)
  const month = (await page.getByLabel('Month', { exact: true }).locator('option').last().textContent()) ?? ''
  await page.getByLabel('Month', { exact: true }).selectOption(month)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(`**/billing_history?month=${month}#month`)
  await page.getByRole('row', { name: /^Total \$30\.2/ }).waitFor()
  // The month of that bill also has the plan's payment.
  await page.getByRole('row').filter({ hasText: 'Plan: Basic' }).getByText('$25.00').waitFor()
  const csv = await page.request.get(`${world.url}/billing_history.csv?month=${month}`)
  expect((await csv.text()).split('\r\n')[1]).toMatch(
    /,5\.2\d,28\d\d\d,false,true,in_\w+,Usage,Basic,\d{4}-\d\d-\d\d,PG-\d+,0\.00,$/,
  )

  expect((await csv.text()).split('\r\n')[2]).toMatch(/,25\.00,0,true,false,in_\w+,Plan,Basic,,PG-\d+,0\.00,$/)
  await page.getByRole('button', { name: 'Payment method and receipts' }).click()
  await page.waitForURL('**/p/session/**')
  expect(await page.getByRole('row').filter({ hasText: 'Paid' }).count()).toBeGreaterThan(0)
  await page.getByRole('link', { name: 'Return to Proving Ground' }).click()
  await page.waitForURL('**/billing_history')

  await bill.getByRole('rowheader').getByRole('link').click()
  await page.getByText(/: 10,\d{3} s × \$0\.0004861 = \$5\.2/).waitFor()
  // On paper: only the statement, as wide as A4 between its margins, with no number split across lines.
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: 673, height: 900 })
  expect(await page.getByText('Your account is suspended').isVisible()).toBe(false)
  expect(
    await page
      .locator('tbody tr')
      .first()
      .evaluate((row) => getComputedStyle(row).display),
  ).toBe('table-row')
  expect(await page.locator('main').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  const inTwoLines = (cells: Element[]) =>
    cells.flatMap((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return range.getClientRects().length > 1 ? [cell.textContent] : []
    })
  expect(await page.locator('td.num').evaluateAll(inTwoLines)).toEqual([])
  await page.emulateMedia({ media: null })
  await page.setViewportSize({ width: 1280, height: 900 })
  const pdf = await page.getByRole('link', { name: 'Download PDF' }).getAttribute('href')
  expect((await fetch(pdf ?? '')).status).toBe(200)
  await page.getByRole('link', { name: 'Pay invoice' }).click()
  await page.waitForURL('**/i/in_*')
  await page.getByRole('button', { name: /^Pay \$5\.2/ }).click()
  await page.getByText('Paid', { exact: true }).waitFor()

  await expect
    .poll(() => open(page, '/dashboard').then(() => page.getByText('Your account is suspended').count()))
    .toBe(0)
  // The operator finds that one of those hours was our fault.
  await open(page, '/billing_history')
  const billId = (await bill.getByRole('rowheader').getByRole('link').getAttribute('href'))?.split('/').at(-1) ?? ''
  const hand = { db: openDatabase(world.stack.services.vars.LIBSQL_URL as string), now: Date.now }
  await correctBill(hand, billId, { seconds: 25_200, reason: 'A fault of ours took an hour.' })
  await advance(world.url, 60)
  await expect
    .poll(() => moneyMails(PILOT.email))
    .toEqual([
      'Your included hours are used up',
      expect.stringMatching(/^Your invoice: \$5\.2\d, due /),
      expect.stringMatching(/^Account suspended: \$5\.2\d is overdue$/),
      expect.stringMatching(/^We received \$5\.2\d$/),
    ])
  await open(page, '/billing_history')
  await page.getByRole('row').filter({ hasText: 'Correction' }).getByText(/^cn_/).waitFor()
  await page.getByRole('row').filter({ hasText: 'Correction' }).getByRole('rowheader').getByRole('link').click()
  await page.getByText('A fault of ours took an hour.').waitFor()
  await page.getByRole('link', { name: 'the original statement' }).click()
  await page.getByRole('heading', { name: 'Corrections' }).waitFor()

  await open(page, '/account_overview')
  await page.getByText('Cancel subscription').click()
  await page.getByRole('button', { name: 'Cancel at period end' }).click()
  await page.getByText('Your subscription has been cancelled and will not renew.').waitFor()
  await advance(world.url, 32 * DAY)
  await open(page, '/account_overview')
  await page.getByText('No Plan').waitFor()
})

test('upgrade during a run, choose a machine, use it up, and pay, to the last mail', async () => {
  const person = await newPerson(world.url)
  const ada = { email: person.email, password: PASSWORD }
  const page = await pageOf(world.browser, world.url, person, { viewport: { width: 1280, height: 900 } })
  const card = page.getByRole('region', { name: /^Server (starting|running|stopping)$/ })
  const machine = page.getByText('Machine', { exact: true })
  const start = page.getByRole('button', { name: 'Start Server' })
  const stop = () => stopServer(page, card)

  await open(page, '/subscriptions')
  await page.getByRole('button', { name: 'Choose Basic' }).click()
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await page.waitForURL('**/dashboard')
  await untilHydrated(page)
  await machine.click()
  await page.getByText(/^1 × L4, 16 CPU, 64 GB, us-east-1\w$/).waitFor()
  expect(await page.getByRole('group', { name: 'Machine' }).count()).toBe(0)
  await start.click()
  await card.getByRole('heading', { name: 'Server running' }).waitFor()

  await page.getByRole('link', { name: 'Subscriptions' }).click()
  await page.getByRole('link', { name: 'Upgrade to Premium' }).click()
  await page.getByText('Up to 4 NVIDIA L4, from your next start').waitFor()
  await page.getByRole('button', { name: /^Upgrade and pay \$22[45]\.\d\d$/ }).click()
  await page.waitForURL('**/account_overview')
  await page.getByText(/^You're on Premium now: .+, on servers with up to 4 NVIDIA L4\./).waitFor()
  await open(page, '/dashboard')
  const restart = card.getByText('Your plan now includes 4 × L4. To use them, stop this server and start another.')
  await restart.waitFor()
  expect(await axeFaults(page)).toEqual([])
  await stop()

  await machine.click()
  await expect
    .poll(() => page.getByRole('group', { name: 'Machine' }).locator('label').allTextContents())
    .toEqual([
      expect.stringMatching(/^4 × L4, 48 CPU, 192 GB, us-east-1\w$/),
      expect.stringMatching(/^1 × L4, 16 CPU, 64 GB, us-east-1\w$/),
    ])
  expect(await page.getByRole('radio', { name: /^4 × L4/ }).isChecked()).toBe(true)
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('radio', { name: /^1 × L4/ }).check()
  await runUntilStopped(page)
  await start.click()
  await card.getByText(/^1 × L4, 16 CPU, 64 GB/).waitFor()
  await card.getByText(/^covered by your plan/).waitFor()
  expect(await restart.count()).toBe(0)

  await advance(world.url, 25 * 3600)
  await expect.poll(() => moneyMails(person.email)).toEqual(['80% of your included hours are used'])
  await advance(world.url, 7 * 3600)
  await open(page, '/dashboard', ada)
  await card.getByText('$1.75/h').waitFor()
  await stop()
  const plain = await pageOf(world.browser, world.url, person, { javaScriptEnabled: false })
  await signInByHand(plain, world.url, ada)
  await plain.getByText('Machine', { exact: true }).click()
  await plain.getByRole('radio', { name: /^1 × L4/ }).check()
  await plain.getByRole('button', { name: 'Start Server' }).click()
  await plain
    .getByRole('region', { name: 'Server starting' })
    .getByText(/^1 × L4, 16 CPU, 64 GB/)
    .waitFor()
  await plain.getByRole('button', { name: 'Cancel', exact: true }).click()

  await advance(world.url, 31 * DAY)
  await open(page, '/dashboard', ada)
  await page.getByRole('link', { name: /^\$3\.\d\d$/ }).click()
  await page.waitForURL('**/billing_history')
  const owed = page.getByRole('list', { name: 'Open invoices' })
  await owed.getByText(/^\$3\.\d\d for usage, .+, due \w+ \d+, \d{4}\.$/).waitFor()
  await page.getByRole('link', { name: /^Pay \$3\.\d\d$/ }).click()
  await page.getByRole('button', { name: /^Pay \$3\.\d\d/ }).click()
  await page.getByText('Paid', { exact: true }).waitFor()
  await advance(world.url, 60)
  await expect
    .poll(() => moneyMails(person.email))
    .toEqual([
      '80% of your included hours are used',
      'Your included hours are used up',
      expect.stringMatching(/^Your invoice: \$3\.\d\d, due /),
      expect.stringMatching(/^We received \$3\.\d\d$/),
    ])
  await open(page, '/billing_history', ada)
  expect(await page.getByRole('list', { name: 'Open invoices' }).count()).toBe(0)
})
