import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { BillingRecord } from '../../src/domain/wire/billing.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { advance, DESK, pageOf, signInByHand, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { type Client, newPerson, PASSWORD, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const world = stackAndBrowser({ plansForSale: true })

type Person = Client & { email: string }
type StripeInvoice = {
  id: string
  number: string
  total: number
  status: string
  customer: string
  customer_name: string | null
  hosted_invoice_url: string
  lines: { data: { amount: number }[] }
}

/** What the Stripe stand-in answers to a call of Stripe's API. */
async function atStripe<T>(path: string, method = 'GET'): Promise<T> {
  const [, base = ''] = world.stack.services.addresses.find(([name]) => name.includes('Stripe')) ?? []
  return (await (
    await fetch(`${base}/v1/${path}`, { method, headers: { authorization: 'Bearer sk_test' } })
  ).json()) as T
}

/** Days go by one at a time, as they do for the triggers. */
async function days(person: Person, count: number): Promise<void> {
  for (let day = 0; day < count; day++) await advance(world.url, DAY)
  await person.signIn(person.email, PASSWORD)
}

async function ranFor(person: Person, name: string, seconds: number): Promise<Server> {
  const started = await person.post('/api/v1/aws/auto_cloud_start_request', { name, stop_after: null })
  expect(started.status, started.text).toBe(202)
  const latest = async () => (await serversOf(person))[0]
  await waitFor(async () => (await latest())?.billed_from)
  await advance(world.url, seconds)
  // A sign-in doesn't last for days.
  await person.signIn(person.email, PASSWORD)
  await stopServer(person)
  return waitFor(async () => {
    const server = await latest()
    return server?.cost_dollars != null && server
  })
}

const billsOf = async (person: Person) =>
  (await person.get<{ billings: BillingRecord[] }>('/api/v1/billings/history')).body.billings

/** Presses Pay on Stripe's page of each open invoice, as someone does by hand. */
async function payAll(page: Page): Promise<void> {
  await open(page, '/billing_history')
  const pay = page.getByRole('list', { name: 'Open invoices' }).getByRole('link', { name: 'Pay' })
  for (const address of await pay.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))) {
    await page.goto(address)
    await page.getByRole('button', { name: /^Pay \$/ }).click()
    await page.getByText('Paid', { exact: true }).first().waitFor()
  }
}

let signedInAs = ''
async function open(page: Page, path: string): Promise<void> {
  await waitFor(() => page.goto(`${world.url}${path}`).catch(() => null))
  if (new URL(page.url()).pathname === '/sign_in') {
    await signInByHand(page, world.url, { email: signedInAs, password: PASSWORD })
    await page.goto(`${world.url}${path}`)
  }
  await untilHydrated(page)
}

/** Each row of a table, as the text of its cells. */
const rowsOf = (page: Page, within: string) =>
  page
    .locator(`${within} tbody tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())))

const cents = (text: string) => Math.round(Number(text.replace(/[$,]/g, '')) * 100)

// Close to two minutes alone, and beside others up to five.
test('three months of one customer: every number is the same wherever it stands, and the books match line by line', {
  timeout: 900_000,
}, async () => {
  const person = await newPerson(world.url, 'Ada Lovelace')
  signedInAs = person.email
  const page = await pageOf(world.browser, world.url, person, DESK)

  // A company buys, and its card may pay for usage.
  await open(page, '/subscriptions')
  await page.getByRole('button', { name: 'Choose Basic' }).click()
  await page.waitForURL('**/c/pay/**')
  await page.getByLabel(/Charge extra server time/).selectOption('yes')
  await page.getByText('I’m purchasing as a business').click()
  await page.getByLabel('Business name').fill('Müller & Söhne GmbH')
  await page.getByLabel('Address').fill('Hauptstr. 1')
  await page.getByLabel('City').fill('Köln')
  await page.getByLabel('Postal code').fill('50667')
  await page.getByLabel('Country').fill('DE')
  await page.getByLabel('Tax ID').fill('DE123456789')
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await page.waitForURL('**/dashboard')

  // The first month's usage is charged to its card.
  const runs = [await ranFor(person, 'Night flight', 8 * HOUR + 7), await ranFor(person, 'Second', 11)]
  await days(person, 34)
  await waitFor(async () => (await billsOf(person)).find(({ kind, paid }) => kind === 'usage' && paid))
  // The second month's renewal finds no card: the plan and the usage are paid by hand.
  runs.push(await ranFor(person, 'Third', 7 * HOUR))
  const { data: customers } = await atStripe<{ data: { id: string; email: string }[] }>(
    `customers?email=${person.email}`,
  )
  const customer = await atStripe<{ invoice_settings: { default_payment_method: string } }>(
    `customers/${customers[0]?.id}`,
  )
  await atStripe(`payment_methods/${customer.invoice_settings.default_payment_method}/detach`, 'POST')
  await days(person, 29)
  await waitFor(async () => (await billsOf(person)).some(({ kind, paid }) => kind === 'plan' && !paid))
  await waitFor(async () => (await billsOf(person)).filter(({ kind, invoice_number: n }) => kind === 'usage' && n)[1])
  await payAll(page)
  await waitFor(async () => (await billsOf(person)).every(({ paid }) => paid))
  // A server runs into the fourth month. The third one's usage stays open.
  runs.push(await ranFor(person, 'Fourth', 3 * DAY))
  await days(person, 31)
  const bills = await waitFor(async () => {
    const all = await billsOf(person)
    return all.filter(({ kind, invoice_number: n }) => kind === 'usage' && n).length >= 3 && all
  })

  await open(page, '/billing_history')
  const table = await rowsOf(page, '.card:has(h2:text-is("All bills"))')
  const csv = (await (await page.request.get(`${world.url}/billing_history.csv`)).text())
    .replace('\ufeff', '')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','))
  const column = (name: string) => csv[0]?.indexOf(name) ?? -1
  const { data: atTheirs } = await atStripe<{ data: StripeInvoice[] }>(
    `invoices?customer=${customers[0]?.id}&limit=100`,
  )
  expect(table).toHaveLength(bills.length)
  expect(csv.slice(1)).toHaveLength(bills.length)
  expect(bills.filter(({ kind }) => kind === 'usage').length).toBeGreaterThanOrEqual(3)
  for (const [i, bill] of bills.entries()) {
    const [row = [], line = []] = [table[i], csv[i + 1]]
    const stripe = atTheirs.find(({ id }) => id === bill.transaction_id)
    const owed = Math.round(bill.amount_owed * 100)
    // Page, file, API, and Stripe: the sum, the number, whether it's paid, and the days.
    expect([cents(row[2] ?? ''), cents(line[column('Amount Owed')] ?? ''), stripe?.total]).toEqual([owed, owed, owed])
    expect([row[6]?.split('\n')[0], line[column('Invoice Number')], stripe?.number]).toEqual(
      Array(3).fill(bill.invoice_number),
    )
    expect([row[4], line[column('Paid')], stripe?.status]).toEqual(
      bill.paid ? ['Paid', 'true', 'paid'] : ['Not paid', 'false', 'open'],
    )
    expect([line[column('Start Date')], line[column('End Date')]]).toEqual([bill.start_date, bill.end_date])
    if (bill.kind === 'plan') continue
    expect(row[3]).toBe(bill.seconds_used.toLocaleString('en-US'))
    expect(line[column('Seconds Used')]).toBe(String(bill.seconds_used))
    // The statement, as it is printed.
    await open(page, `/billing_history/${bill.id}`)
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    expect(await page.title()).toMatch(new RegExp(`^Statement ${bill.start_date} to ${bill.end_date}`))
    const facts = await page.locator('dl.facts').innerText()
    expect(facts).toContain('Proving Ground, Inc., 1 Test Range Road, Reno, NV 89501, US, Tax ID US EIN 00-0000000')
    expect(facts).toContain(`Müller & Söhne GmbH, Hauptstr. 1, Köln, 50667, DE, Tax ID DE123456789, ${person.email}`)
    expect(facts).toContain(bill.invoice_number)
    const lines = await rowsOf(page, '.card:has(h2:text-is("Runs"))')
    const foot = await page.locator('tfoot tr').innerText()
    expect(cents(foot.match(/\$[\d,.]+/)?.[0] ?? '')).toBe(owed)
    let seconds = 0
    for (const [who = '', , start = '', end = '', used = ''] of lines) {
      expect(runs.map(({ name, id }) => `${name}\n${id}`)).toContain(who)
      seconds += Number(used.replace(',', ''))
      // The clocks differ by the seconds beside them.
      expect((Date.parse(`${end}Z`) - Date.parse(`${start}Z`)) / 1000).toBe(Number(used.replace(/,/g, '')))
    }
    expect(seconds).toBe(bill.seconds_used)
    await page.emulateMedia({ media: 'screen' })
    // Stripe's own page names the same company.
    await page.goto(stripe?.hosted_invoice_url ?? '')
    for (const text of ['Müller & Söhne GmbH', 'Tax ID DE123456789', `Invoice ${bill.invoice_number}`])
      await page.getByText(text).first().waitFor()
    await page.getByText(`${bill.seconds_used} s of server time`).waitFor()
  }

  // Each run costs the same in its row, on its tile and receipt, in the API, in the file, and in the statements.
  const file = await (await page.request.get(`${world.url}/servers.csv`)).text()
  await open(page, '/servers')
  const list = await rowsOf(page, 'main')
  for (const { id, name } of runs) {
    const { server, cost } = (await person.get<{ server: Server; cost: { dollars: number } }>(`/api/v1/servers/${id}`))
      .body
    const exact = cost.dollars
    expect(server.cost_dollars).toBe(exact)
    const line = file.split('\r\n').find((one) => one.includes(id))
    expect(line).toContain(`"${exact.toFixed(7)}"`)
    const shown = exact > 0 && exact < 0.005 ? 'less than $0.01' : `$${exact.toFixed(2)}`
    expect(list.find(([who]) => who?.includes(id))?.at(-1)).toBe(shown)
    await open(page, `/servers/${id}`)
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(name)
    expect(await page.locator('#receipt tfoot tr').innerText()).toContain(shown)
    const tile = page.locator('.stats div, dl div').filter({ hasText: /^Cost/ }).first()
    expect(await tile.innerText()).toContain(shown)
    const receipt = await rowsOf(page, '#receipt table:has(tfoot)')
    const parts = receipt.slice(1).map((cells) => Math.round(Number(cells.at(-1)?.slice(1)) * 10_000))
    expect(Math.abs(parts.reduce((sum, part) => sum + part, 0) - exact * 10_000)).toBeLessThanOrEqual(parts.length)
    // A bill is named by its own days.
    const links = page.locator('#receipt a', { hasText: 'Bill' })
    for (const [i, text] of (await links.allInnerTexts()).entries()) {
      const at = (await links.nth(i).getAttribute('href'))?.split('/').at(-1)
      const bill = bills.find((one) => one.id === at)
      const day = (iso = '') => new Date(iso).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
      expect(text).toBe(`Bill ${day(bill?.start_date)} – ${day(bill?.end_date)}`)
    }
  }
  // What is open is one sum, and there is one button for each invoice.
  const unpaid = bills.filter(({ paid }) => !paid)
  const sum = unpaid.reduce((all, { amount_owed }) => all + Math.round(amount_owed * 100), 0)
  await open(page, '/dashboard')
  const shownSum = await page.getByText('Unpaid invoices:').innerText()
  expect(cents(shownSum.replace(/^[^$]*/, ''))).toBe(sum)
  await open(page, '/billing_history')
  const pay = await page.getByRole('link', { name: /^Pay \$/ }).allInnerTexts()
  expect(pay.map((text) => cents(text.replace('Pay ', ''))).reduce((all, one) => all + one, 0)).toBe(sum)
  expect(pay).toHaveLength(unpaid.length)
  // Choosing a month keeps the focus on the choice.
  await page.getByLabel('Month', { exact: true }).selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL('**/billing_history?month=*')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('month')
  await page.context().close()
})

test.each(['America/Los_Angeles', 'Asia/Kathmandu', 'Pacific/Auckland'])(
  'a server that runs over every midnight shows the days of its clocks in %s',
  async (timezoneId) => {
    const person = await newPerson(world.url)
    signedInAs = person.email
    const page = await pageOf(world.browser, world.url, person, { ...DESK, timezoneId })
    await open(page, '/subscriptions')
    await page.getByRole('button', { name: 'Choose Basic' }).click()
    await page.getByRole('button', { name: 'Pay $25.00' }).click()
    await page.waitForURL('**/dashboard')
    const { id } = await ranFor(person, 'Long', 24 * HOUR)
    await person.signIn(person.email, PASSWORD)
    await open(page, `/servers/${id}`)
    type Row = { day: string; isNamed: boolean; clock: string; at: string }
    const rows = await page.locator('.timeline li').evaluateAll((items) =>
      items.map((item): Row => {
        const [day, clock] = [...item.querySelectorAll('time')] as [HTMLTimeElement, HTMLTimeElement]
        return { day: day.textContent, isNamed: day.checkVisibility(), clock: clock.textContent, at: clock.dateTime }
      }),
    )
    expect(rows.length).toBeGreaterThan(5)
    const local = (at: string, options: Intl.DateTimeFormatOptions) =>
      new Date(at).toLocaleString('en-US', { timeZone: timezoneId, ...options })
    for (const [i, { day, isNamed, clock, at }] of rows.entries()) {
      expect(day).toBe(local(at, { dateStyle: 'medium' }))
      expect(clock).toBe(local(at, { timeStyle: 'medium' }).replace('\u202f', ' '))
      expect(isNamed).toBe(day !== rows[i - 1]?.day)
    }
    expect(new Set(rows.map(({ day }) => day)).size).toBeGreaterThan(1)
    // Its cost chart has the same clock, and UTC is nowhere.
    await expect
      .poll(() => page.locator('.chart [data-at]').evaluateAll((parts) => parts.map((part) => part.outerHTML)))
      .not.toContainEqual(expect.stringContaining('UTC'))
    const [tick] = await page
      .locator('.chart text[data-at]')
      .evaluateAll((ticks: SVGElement[]) =>
        ticks.map((tick) => ({ text: tick.textContent, at: tick.dataset.at ?? '' })),
      )
    const brief = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
    expect(tick?.text).toBe(local(tick?.at ?? '', brief).replace('\u202f', ' '))
    await page.context().close()
  },
)
