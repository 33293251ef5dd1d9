import { newPerson } from './people.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

const ASKED: [path: string, budget: number][] = [
  ['/', 0],
  ['/pricing', 0],
  ['/dashboard', 2],
  ['/billing_history', 2],
  ['/subscriptions', 2],
  ['/account_overview', 2],
  ['/api/v1/servers/get_servers', 1],
  ['/api/v1/billings/summary', 1],
]

/** How many requests reach the database for one page or poll of somebody who is signed in (a visitor, where the budget is none). */
export async function benchRoundTrips(site: BenchSite): Promise<Row[]> {
  const person = await newPerson(site)
  await person.call('GET', '/dashboard')
  const rows: Row[] = []
  for (const [path, budget] of ASKED) {
    const before = site.database.trips.length
    const response = budget ? await person.call('GET', path) : await fetch(site.url + path)
    await response.text()
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    // Nothing else speaks to the database meanwhile; what was started in the background would still arrive.
    await new Promise((resolve) => setTimeout(resolve, 100))
    rows.push(atMost(`database round trips, GET ${path}`, site.database.trips.length - before, budget, ''))
  }
  return rows
}
