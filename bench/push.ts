import type { Browser, Page } from 'playwright-core'
import type { Job } from '../src/domain/wire/fleet.ts'
import { newSignedInPerson, type Person, start, stop, untilServer } from '../testing/people/signed-in-person.ts'
import { median, quantile } from './median.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row, told } from './table.ts'

const RUNS = 6

/**
 * From the database confirming a job's change until its frame reaches a dashboard's socket in Chromium. The browser's debugging protocol reports
 * the arrival, so its delay is included.
 */
export async function benchPush(site: BenchSite, browser: Browser): Promise<Row[]> {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const person = await newSignedInPerson(site)
    const { page, frames } = await openDashboard(site, browser, person)
    await start(person)
    await untilServer(person, 'active')
    await stop(person)
    await untilServer(person, 'ended')
    await page.waitForTimeout(300)
    for (const { job, at } of frames) {
      const committed = commitOf(site, job)
      // Skips what subscribing sent, which was committed long before.
      if (committed !== null && at > committed) times.push(at - committed)
    }
    await page.context().close()
  }
  return [
    atMost(`a job's change reaches a page in Chromium, median of ${times.length}`, median(times), 100, 'ms'),
    told("a job's change reaches a page in Chromium, p99", `${quantile(times, 0.99).toFixed(1)} ms`),
  ]
}

type Frame = { job: Job; at: number }

export async function openDashboard(site: BenchSite, browser: Browser, person: Person) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const [name = '', value = ''] = person.cookie.split('=')
  await context.addCookies([{ name, value, url: site.url }])
  const page = await context.newPage()
  const frames: Frame[] = []
  let sockets = 0
  page.on('websocket', (socket) => {
    sockets += 1
    socket.on('framereceived', ({ payload }) => {
      const message = JSON.parse(String(payload)).message
      if (message?.event === 'job.updated') frames.push({ job: message.job, at: performance.now() })
    })
  })
  await page.goto(`${site.url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  return { page: page as Page, frames, sockets: () => sockets }
}

/** When the database answered the write of this job state. The write holds the job's id and the exact time of the change. */
function commitOf({ database }: BenchSite, job: Job): number | null {
  const changedAt = String(Date.parse(job.updated_at))
  const write = database.trips.find(({ body }) => body.includes(job.id) && body.includes(changedAt))
  return write?.answeredAt ?? null
}
