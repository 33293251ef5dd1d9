import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { PUBLIC_PAGES } from './bytes.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

const SIGNED_IN_PAGES = [
  '/dashboard',
  '/subscriptions',
  '/account_overview',
  '/billing_history',
  '/servers',
  '/devices',
  '/activity',
  '/close_account',
]
const POLLS = ['/api/v1/servers/get_servers', '/api/v1/billings/summary']

const ASKED: [path: string, budget: number][] = [
  ...PUBLIC_PAGES.map((path) => [path, 0] as [string, number]),
  // Only twice a minute per isolate.
  ['/status', 1],
  ...SIGNED_IN_PAGES.map((path) => [path, 2] as [string, number]),
  ...POLLS.map((path) => [path, 1] as [string, number]),
  ['/api/v1/aws/server_available', 2],
]

/** How many database requests a page or poll makes for a signed-in user (for a visitor, if the budget is 0). */
export async function benchRoundTrips(site: BenchSite): Promise<Row[]> {
  const person = await newSignedInPerson(site)
  await person.call('GET', '/dashboard')
  const rows: Row[] = []
  for (const [path, budget] of ASKED) {
    const before = site.database.trips.length
    const response = budget && path !== '/status' ? await person.call('GET', path) : await fetch(site.url + path)
    await response.text()
    if (response.status >= 300 && path !== '/no-such-page') throw new Error(`${path} answered ${response.status}`)
    // Nothing else uses the database here. Wait for background work that still might.
    await new Promise((resolve) => setTimeout(resolve, 100))
    rows.push(atMost(`database round trips, GET ${path}`, site.database.trips.length - before, budget, ''))
  }
  return rows
}
