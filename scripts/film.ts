import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { type Stack, startStack } from '../dev/stack.ts'
import { CHAPTERS, LENGTH, SHAPES, STILL } from '../src/islands/film/chapters.ts'
import { openBrowser } from '../testing/browser/chromium.ts'
import { untilHydrated } from '../testing/browser/e2e.ts'
import { newPerson, PASSWORD, waitFor } from '../testing/people/client.ts'
import { Camera } from './film/camera.ts'
import { develop } from './film/develop.ts'

/** `npm run film`: records the landing page's film from the built product, for each theme and shape, into public/film/. */
const FOLDER = 'public/film'
const KILOBYTES = 300
const BITRATE = { wide: 20_000, tall: 27_000 }
const DAY = 86_400
const CSS_WIDTH = { wide: 960, tall: 390 }

const only = process.argv.slice(2)
const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-film-'))
const browser = await openBrowser()
mkdirSync(FOLDER, { recursive: true })
try {
  for (const shape of ['wide', 'tall'] as const)
    for (const theme of ['dark', 'light'] as const) {
      if (only.length && !only.includes(`${shape}-${theme}`)) continue
      const [width, height] = SHAPES[shape]
      const ratio = width / CSS_WIDTH[shape]
      // Each film has its own site, so that Ada is there for the first time, on the same day.
      const stack = await startStack({
        dataDir: join(dataDir, `${shape}-${theme}`),
        ec2BootMs: 2_500,
        plansForSale: true,
        log: () => {},
      })
      const camera = await shoot(stack, browser, { width, height, ratio, theme })
      await stack.close()
      const film = await develop(browser, camera, { width, height, ratio, bitrate: BITRATE[shape], still: STILL })
      writeFileSync(`${FOLDER}/${shape}-${theme}.webm`, film.webm)
      writeFileSync(`${FOLDER}/${shape}-${theme}.webp`, film.poster)
      const size = Math.round(film.webm.length / 1000)
      console.log(`${shape}-${theme}: ${camera.stills.length} stills, ${size} kB, poster ${film.poster.length} bytes`)
      if (size > KILOBYTES) process.exitCode = 1
    }
} finally {
  await browser.close()
  rmSync(dataDir, { recursive: true, force: true })
}

/** One person's day: start, fly, stop. Then, a month later, the bill. */
async function shoot(
  { url }: Stack,
  browser: Browser,
  { width, height, ratio, theme }: { width: number; height: number; ratio: number; theme: 'dark' | 'light' },
): Promise<Camera> {
  const person = await newPerson(url, 'Ada', 'ada@example.com')
  const jump = (seconds: number) => person.post('/dev/clock', { advance_seconds: seconds })
  const { body } = await person.post('/api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' })
  await fetch(body.url, { method: 'POST', redirect: 'manual' })
  await waitFor(async () => (await person.get('/api/v1/billings/summary')).text.includes('"basic"'))
  const startAndStop = async (seconds: number) => {
    await person.post('/api/v1/aws/auto_cloud_start_request', {})
    const running = await server((one) => one.billed_from !== null)
    await jump(seconds)
    await person.post('/api/v1/aws/stop_server', { server_id: running.server_id, session_id: running.id })
    await server((one) => !one.active && !one.pending && !one.stopping)
  }
  type Server = {
    id: string
    server_id: string
    active: boolean
    pending: boolean
    stopping: boolean
    billed_from: string
  }
  const server = (is: (one: Server) => boolean) =>
    waitFor(async () => {
      const { servers } = (await person.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body
      return servers[0] && is(servers[0]) ? servers[0] : null
    })
  // Use more than the plan includes, so that the next run costs something.
  await startAndStop(6 * 3600 + 754)
  await jump(2 * DAY)

  const context = await browser.newContext({
    viewport: { width: Math.round(width / ratio), height: Math.round(height / ratio) },
    deviceScaleFactor: ratio,
    colorScheme: theme,
    hasTouch: ratio > 1.5,
  })
  const open = async (path: string) => {
    await person.signIn(person.email, PASSWORD)
    await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url })))
    const page = await context.newPage()
    await page.goto(url + path)
    await untilHydrated(page)
    return page
  }
  const [, fly, stop, pay] = CHAPTERS.map(({ from }) => from) as [number, number, number, number]
  const camera = new Camera()

  const dashboard = await open('/dashboard')
  await dashboard.getByText('Live', { exact: true }).waitFor()
  await camera.turnTo(dashboard)
  await camera.press(dashboard.getByRole('button', { name: 'Start Server' }).first())
  await camera.live(2.8, dashboard.getByRole('link', { name: 'Open simulator' }).waitFor())
  const simulator = dashboard.getByRole('link', { name: 'Open simulator' })
  await camera.holdUntil(fly - 1.3)
  const address = (await simulator.getAttribute('href')) ?? ''
  await simulator.evaluate((link) => link.addEventListener('click', (event) => event.preventDefault()))
  await camera.press(simulator)

  const live = await context.newPage()
  await live.clock.install()
  await live.goto(address)
  await live.clock.runFor(6_000)
  await camera.turnTo(live)
  await camera.rollUntil(stop)
  await live.close()

  await jump(41 * 60 + 12)
  await dashboard.reload()
  await untilHydrated(dashboard)
  await dashboard.getByText('Live', { exact: true }).waitFor()
  await camera.turnTo(dashboard)
  await camera.press(dashboard.getByRole('button', { name: 'Stop', exact: true }).first())
  const question = dashboard.getByRole('dialog', { name: 'Stop this server?' })
  await question.waitFor()
  await camera.press(question.getByRole('button', { name: 'Stop server' }), 0.6)
  await camera.live(1.2, dashboard.locator('main').getByText('Server stopped').first().waitFor())
  await camera.holdUntil(pay)

  await jump(30 * DAY)
  await waitFor(async () => {
    await person.signIn(person.email, PASSWORD)
    const { billings } = (
      await person.get<{ billings: { amount_owed: number; kind?: string }[] }>('/api/v1/billings/history')
    ).body
    return billings.length > 1 && billings
  })
  const bills = await open('/billing_history')
  await camera.turnTo(bills)
  await camera.holdUntil(pay + 1.2)
  const bill = bills.locator('main table a[href^="/billing_history/"]').first()
  await camera.press(bill)
  await bills.waitForURL('**/billing_history/*')
  await camera.turnTo(bills)
  await camera.holdUntil(LENGTH)
  await context.close()
  return camera
}
