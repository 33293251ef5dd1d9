import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { confirmStop, hold, pageOf, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

const world = stackAndBrowser({ ec2BootMs: 1500 })

/** A network that answers requests but blocks WebSockets: they hang, or it refuses them. */
const NETWORKS = {
  hangs: (page: Page) => page.routeWebSocket('**/cable', () => {}),
  refuses: (page: Page) => page.routeWebSocket('**/cable', (socket) => void socket.close({ code: 1011 })),
}

test.each(Object.keys(NETWORKS) as (keyof typeof NETWORKS)[])(
  'where a WebSocket %s, says so after 10 s, and start and stop still end with their outcome',
  async (network) => {
    const page = await pageOf(world.browser, world.url, await newPerson(world.url))
    await NETWORKS[network](page)
    await page.goto(`${world.url}/dashboard`)
    await untilHydrated(page)
    const boot = hold(world)
    await page.getByRole('button', { name: 'Start Server' }).click()
    await page.locator('.notices').getByText('Starting server!').waitFor()
    boot.release()
    await page.locator('.notices').getByText('Your server is running.').waitFor()
    expect(await page.getByText('Starting server!').count()).toBe(0)

    const end = hold(world)
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await confirmStop(page)
    await page.locator('.notices').getByText('Stopping server...').waitFor()
    const seconds = await page.locator('.notices .progress .mono').textContent()
    expect(Number.parseInt(seconds ?? '', 10)).toBeLessThan(60)
    end.release()
    await page.locator('.notices').getByText('Server stopped.').waitFor()
    await page.getByRole('row').filter({ hasText: 'Ended by you' }).waitFor()

    await page.getByRole('status').getByText('Live updates are blocked on your network.').waitFor()
    await page.context().close()
  },
)

test("shows the server's time for a job, however wrong the browser's clock is", async () => {
  const page = await pageOf(world.browser, world.url, await newPerson(world.url))
  await page.clock.install({ time: Date.now() - 40 * 86_400_000 })
  await NETWORKS.hangs(page)
  await page.goto(`${world.url}/dashboard`)
  await untilHydrated(page)
  await page.getByRole('button', { name: 'Start Server' }).click()
  const seconds = page.locator('.notices .progress .mono')
  await seconds.waitFor()
  expect(Number.parseInt((await seconds.textContent()) ?? '', 10)).toBeLessThan(60)
  await page.context().close()
})
