import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { WEB_PORTS } from '../../src/domain/machine-ports.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { openWithServer, pageOf, stackAndBrowser, stopServer } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'
import { newRunner, onMachine } from '../../testing/stack/door.ts'

const world = stackAndBrowser({ doorDomain: 'door.localhost' })

/** The page that a click opens in a new tab, once it has loaded. */
async function opened(context: BrowserContext, click: Promise<void>): Promise<Page> {
  const [page] = await Promise.all([context.waitForEvent('page'), click])
  await page.waitForLoadState()
  return page
}

/** A machine's page on another port, whose title says how its socket is. */
const TALKS = `<!doctype html><title>none</title><script>
  const socket = new WebSocket(location.origin.replace('http', 'ws'))
  socket.onopen = () => (document.title = 'open')
  socket.onclose = () => (document.title = 'closed')
</script>`

test('the owner comes in by a click and a guest by a link, until it is removed; strangers stay out; all ends with the run', async () => {
  const { page, card } = await openWithServer(world, { permissions: ['clipboard-read', 'clipboard-write'] })
  const context = page.context()
  await card.getByText('Private: only you.').waitFor()
  const simulator = await opened(context, card.getByRole('link', { name: 'Open simulator' }).click())
  await simulator.waitForURL((url) => url.pathname === '/')
  const door = simulator.url()
  expect(new URL(door)).toMatchObject({ pathname: '/', search: '' })
  expect(new URL(door).host).toMatch(/^[a-z0-9]{20,}\.door\.localhost:\d+$/)
  await simulator.getByText('Free camera').waitFor()
  const [address] = await page
    .getByRole('table')
    .getByRole('link', { name: /^127\./ })
    .all()
  expect(await address?.getAttribute('href')).toBe(door)

  // By keyboard, in a dialog over the dashboard.
  await card.getByRole('link', { name: 'Share' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Share your server' })
  await dialog.getByLabel('Hours').fill('2')
  await page.keyboard.press('Enter')
  const link = await dialog.locator('.secret').textContent()
  await dialog.getByText('You and a guest can get in').waitFor()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
  expect(await axeFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).click()
  await card.getByText('You and a guest can get in').waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Share')

  const machine = await onMachine((await address?.textContent()) ?? '', 9090, (req, res) =>
    res
      .setHeader('content-type', 'text/html')
      .setHeader('access-control-allow-origin', req.headers.origin ?? '')
      .setHeader('access-control-allow-credentials', 'true')
      .end(TALKS),
  )
  new WebSocketServer({ server: machine.server })
  // The stand-in's page forbids itself other hosts.
  const guest = await world.browser.newPage({ bypassCSP: true })
  await guest.goto(link ?? '')
  await guest.waitForURL(door)
  await guest.getByText('Free camera').waitFor()
  // A page reaches another port that its visitor never opened.
  const other = door.replace('.door', '-9090.door')
  const reached = await guest.evaluate(async (url) => {
    const socket = new WebSocket(url.replace('http', 'ws'))
    const opened = new Promise((resolve) => {
      socket.onopen = () => resolve('open')
      socket.onerror = () => resolve('refused')
    })
    return [await opened, (await fetch(url, { credentials: 'include' })).status]
  }, other)
  expect(reached).toEqual(['open', 200])
  await guest.goto(other)
  await guest.waitForFunction(() => document.title === 'open')

  const eve = await pageOf(world.browser, world.url, await newPerson(world.url, 'Eve'))
  expect((await eve.goto(door))?.status()).toBe(404)
  expect(new URL(eve.url()).origin).toBe(world.url)

  await card.getByRole('link', { name: 'Share' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('Private: only you.').waitFor()
  await guest.waitForFunction(() => document.title === 'closed')
  expect((await guest.goto(link ?? ''))?.status()).toBe(404)
  expect((await guest.goto(door))?.status()).toBe(404)
  await guest.getByRole('link', { name: "It's my server" }).click()
  await guest.waitForURL((url) => url.origin === world.url)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await card.getByText('Private: only you.').waitFor()

  await card.getByRole('link', { name: 'Connect your code' }).click()
  const connect = page.getByRole('dialog', { name: 'Connect your code' })
  await connect.waitFor()
  expect(await connect.locator('.secret').allTextContents()).toEqual([
    `curl -H "Authorization: Bearer $PROVING_GROUND_TOKEN" ${door}`,
    'proving-ground forward 41451 5760:15760',
    ...WEB_PORTS.map((port) => door.replace('http', 'ws').replace('.door', `-${port}.door`)),
  ])
  await page.keyboard.press('Escape')
  await stopServer(page, card)
  expect((await simulator.reload())?.status()).toBe(410)
  await simulator.getByRole('heading', { name: 'This server has stopped' }).waitFor()
  for (const each of [context, guest.context(), eve.context()]) await each.close()
})

test('a hostile run’s page can’t ask another run’s machine with its visitor’s access, not even unseen, nor end it', async () => {
  const { url, browser, stack } = world
  const [ada, bob] = [await newRunner(stack, 'Ada'), await newRunner(stack, 'Bob')]
  const onPort = (door: string, port = 9090) => door.replace('.door', `-${port}.door`)
  const asked: string[] = []
  await onMachine(ada.server.machine, 9090, (req, res) => {
    asked.push(req.url ?? '')
    // Its own pages may show each other.
    const own =
      req.url === '/own'
        ? `<iframe src="/framed"></iframe><iframe src="${onPort(ada.server.door_url, 8765)}"></iframe>`
        : 'Hi'
    res.setHeader('content-type', 'text/html').end(own)
  })
  await onMachine(ada.server.machine, 8765, (_, res) => res.setHeader('content-type', 'text/html').end('Other port'))
  const steal = `${onPort(ada.server.door_url)}steal`
  const ways = ['iframe', 'embed'].map((tag) => `<${tag} src="${steal}?${tag}" hidden></${tag}>`)
  const rules = `<script type="speculationrules">{"prefetch": [{"urls": ["${steal}?ahead"], "eagerness": "immediate"}]}</script>`
  await onMachine(bob.server.machine, 9090, (_, res) =>
    res
      .setHeader('content-type', 'text/html')
      .setHeader('clear-site-data', '"cookies"')
      .end(
        `${ways.join('')}<object data="${steal}?object"></object>${rules}<img src="${steal}?img"><a href="${steal}">Go</a>`,
      ),
  )
  // Ada, who came in to her own run, is Bob's guest.
  const page = await pageOf(browser, url, ada.person)
  await page.goto(`${url}/servers/${ada.server.id}/open?port=9090&to=/own`)
  await page.frameLocator('iframe >> nth=0').getByText('Hi').waitFor()
  // The hosts of other ports know this browser by now. Without their cookies, it finds its way there in the frame.
  for (const again of [false, true]) {
    if (again) {
      await page.context().clearCookies({ domain: new URL(onPort(ada.server.door_url, 8765)).hostname })
      await page.reload()
    }
    await page.frameLocator('iframe >> nth=1').getByText('Other port').waitFor()
  }
  expect(asked.splice(0)).toEqual(['/own', '/framed', '/own', '/framed'])
  const guest = (await bob.person.post(`/api/v1/servers/${bob.server.id}/guests`, { hours: 1 })).body.guest.url
  await page.goto(onPort(guest), { waitUntil: 'load' })
  await page.getByText('Go').waitFor()
  expect(asked).toEqual([])
  const cookies = await page.context().cookies(onPort(ada.server.door_url))
  expect(cookies.map(({ name }) => name).sort()).toEqual(['door', 'door-way'])
  // Their own click is another matter.
  await page.getByText('Go').click()
  await page.getByText('Hi').waitFor()
  expect(asked).toEqual(['/steal'])
  await page.context().close()
})

test('a machine’s script can’t read the way in at the address where we refuse it', async () => {
  const { person, server } = await newRunner(world.stack, 'Cy')
  const own = server.door_url.replace('.door', '-9090.door')
  await onMachine(server.machine, 9090, (_, res) => res.setHeader('content-type', 'text/html').end('Hi'))
  const page = await pageOf(world.browser, world.url, person)
  await page.goto(`${world.url}/servers/${server.id}/open?port=9090`)
  await page.getByText('Hi').waitFor()
  // As a script does that fills the browser's jar.
  await page.context().clearCookies({ domain: new URL(own).hostname })
  const asked = page.evaluate(async (address) => {
    const other = open(address)
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      try {
        if (other?.location.href !== 'about:blank') return other?.location.href
      } catch (error) {
        return (error as Error).name
      }
    }
  }, `${server.door_url}.door/ports?port=9090&way=known&to=/`)
  const refused = await opened(
    page.context(),
    asked.then(() => {}),
  )
  expect(refused.url()).toContain('/.door/enter?pass=')
  await refused.getByRole('heading', { name: 'Allow cookies here' }).waitFor()
  expect(await asked).toBe('SecurityError')
  await page.context().close()
})

test('without script, the same by plain pages', async () => {
  const { page, card } = await openWithServer(world, {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  })
  await expect
    .poll(async () => {
      await page.reload()
      return card.getByRole('link', { name: 'Share' }).count()
    })
    .toBe(1)
  await card.getByRole('link', { name: 'Share' }).click()
  await page.getByLabel('Hours').fill('73')
  // The browser would refuse this. Older ones don't.
  await page.locator('form:has([name=hours])').evaluate((form: HTMLFormElement) => (form.noValidate = true))
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.getByText('Choose from 1 to 72 hours.').first().waitFor()
  expect(await page.getByLabel('Hours').inputValue()).toBe('73')
  await page.getByLabel('Hours').fill('72')
  await page.getByRole('button', { name: 'Make a link' }).click()
  const link = (await page.locator('.secret').textContent()) ?? ''
  // Days away: the date, and its zone.
  expect(await page.getByText(/^You and a guest can get in/).textContent()).toMatch(/, \d{4}, \d\d:\d\d UTC\.$/)
  expect(await page.locator('.guests li').textContent()).toMatch(/^Until .+, \d{4}, \d\d:\d\d UTCNot used yet/)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  const guest = await page.context().newPage()
  await guest.goto(link)
  await guest.waitForURL((url) => url.pathname === '/')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Link removed. Its guests no longer have access.').waitFor()
  expect((await page.goto(link))?.status()).toBe(404)
  await page.context().close()
})
