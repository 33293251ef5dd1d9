import type { Browser } from 'playwright-core'
import { newSignedInPerson, start, stop, untilServer } from '../testing/people/signed-in-person.ts'
import { openDashboard } from './push.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

const SETTLE_MS = 4_000
const IDLE_MS = 26_000

/**
 * An open, idle dashboard in Chromium. Its object must never wake up, and must be evicted by the time a job changes (which constructs it again).
 * The change must arrive at the page's existing socket.
 */
export async function benchHibernation(site: BenchSite, browser: Browser): Promise<Row[]> {
  const person = await newSignedInPerson(site)
  const wakes = () => site.objects.wakes.filter(({ userId }) => userId === person.id).map(({ what }) => what)
  const { page, frames, sockets } = await openDashboard(site, browser, person)
  await page.waitForTimeout(SETTLE_MS)
  const opened = wakes()
  await page.waitForTimeout(IDLE_MS)
  const whileIdle = wakes().length - opened.length
  const framesBefore = frames.length
  await start(person)
  await page.locator('main').getByText('Your server is running.').waitFor()
  const rebuilt = wakes()
    .slice(opened.length)
    .filter((what) => what === 'constructed').length
  const arrived = frames.length - framesBefore
  const rows: Row[] = [
    atMost(`idle dashboard: wake-ups of its object in ${IDLE_MS / 1000} s`, whileIdle, 0, ''),
    {
      what: 'idle dashboard: object evicted, constructed again for the next job',
      measured: `${opened.filter((what) => what === 'constructed').length} + ${rebuilt} times`,
      budget: '1 + 1 times',
      ok: rebuilt === 1,
    },
    {
      what: 'idle dashboard: frames of that job at the same socket',
      measured: `${arrived} at ${sockets()} socket`,
      budget: '≥ 1 at 1 socket',
      ok: arrived > 0 && sockets() === 1,
    },
  ]
  await stop(person)
  await untilServer(person, 'ended')
  await page.context().close()
  return rows
}
