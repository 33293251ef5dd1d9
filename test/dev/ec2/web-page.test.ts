import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../dev/free-port.ts'
import { waitFor } from '../../../testing/people/client.ts'
import { serve } from '../../../testing/stack/serve.ts'
import { bootMs, localEc2, named, tagged } from './local-ec2.ts'

const open = (url: string) => fetch(url, { signal: AbortSignal.timeout(5000) })
const answers = (url: string) =>
  open(url).then(
    (response) => response.ok,
    () => false,
  )

/** A machine that runs, and where its page is. */
async function runningMachine(options: Parameters<typeof localEc2>[0] = {}, input = {}) {
  const webPort = await freePort()
  const local = await localEc2({ webPort, ...options })
  const id = await local.launchOne(input)
  local.advance(bootMs)
  await local.find(id)
  return { ...local, id, origin: `http://127.64.0.1:${webPort}` }
}

test('serves an instance’s page only while it runs', async () => {
  const webPort = await freePort()
  const { launchOne, find, terminate, advance } = await localEc2({ webPort })
  const url = `http://127.64.0.1:${webPort}/`
  const id = await launchOne(named('Hangar <7> & "co"'))
  expect(await answers(url)).toBe(false)
  advance(bootMs)
  await find(id)
  const page = await open(url)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await page.text()
  expect(html).toContain('<title>Hangar &lt;7&gt; &amp; &quot;co&quot;</title>')
  expect(html).not.toMatch(/https?:\/\//)
  await terminate(id)
  expect(await answers(url)).toBe(false)
})

test('the page shows the environment and the vehicle that the instance was started with', async () => {
  const { origin } = await runningMachine({}, tagged({ environment: 'Mountains', vehicle: 'ugv' }))
  const html = await (await open(origin)).text()
  expect(html).toContain('Mountains, UGV · ')
  expect(html).toContain('data-environment="Mountains" data-vehicle="ugv"')
})

test('the instance serves everything its page loads', async () => {
  const { origin } = await runningMachine()
  const loaded = new Set(['/'])
  for (const path of loaded) {
    const response = await open(origin + path)
    expect([path, response.status]).toEqual([path, 200])
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
    const text = await response.text()
    // Browsers can't read types.
    if (path.endsWith('.ts')) expect(text).not.toMatch(/^import type|\bas const\b|: string\b/m)
    for (const [, file] of text.matchAll(/(?:src|href)="(\/[^"]+)"/g)) loaded.add(file ?? '')
    for (const [, file] of text.matchAll(/from ["']\.(\/[^"']+)["']/g)) loaded.add(file ?? '')
  }
  expect([...loaded]).toEqual(
    expect.arrayContaining(['/page.ts', '/sim.css', '/tokens.css', '/favicon.svg', '/vehicle.ts']),
  )
  expect((await open(`${origin}/../ec2.jsonl`)).status).toBe(404)
  expect((await fetch(origin, { method: 'POST' })).status).toBe(405)
})

test('the page says how long its server has run, by the stack’s clock, and names no price, which depends on the plan', async () => {
  const { origin, advance } = await runningMachine()
  const run = async () => (await open(`${origin}/run`)).json()
  expect(await run()).toEqual({ up: '0s' })
  advance(3_599_999)
  expect(await run()).toEqual({ up: '59m 59s' })
  advance(1)
  expect(await run()).toEqual({ up: '1h 0m 0s' })
  const html = await (await open(origin)).text()
  expect(html).toContain('<dd id="up">1h 0m 0s</dd>')
  expect(html).not.toContain('$')
})

test('with a site, the page links to its dashboard and to the question before a stop; without one, to nothing', async () => {
  // A site without files: the machine asks for its user's first.
  const siteUrl = await serve((_, response) => response.writeHead(404).end())
  const { origin } = await runningMachine({ siteUrl })
  await waitFor(() => answers(origin))
  const html = await (await open(origin)).text()
  expect([...html.matchAll(/href="(http[^"]+)"/g)].map(([, to]) => to)).toEqual([
    `${siteUrl}/dashboard`,
    `${siteUrl}/stop_server`,
  ])
  expect(html).not.toContain('{{')
})

test('pages follow a clock jump without any call', async () => {
  const webPort = await freePort()
  const { ec2, launchOne, advance } = await localEc2({ webPort })
  const id = await launchOne()
  const url = `http://127.64.0.1:${webPort}/`
  advance(bootMs)
  await waitFor(() => answers(url))
  ec2.inject('terminate_instance', 1, { instance_id: id })
  await waitFor(async () => !(await answers(url)))
})

test('each instance has its own page, even after a restart', async () => {
  const webPort = await freePort()
  const first = await localEc2({ webPort })
  await first.launch({ MinCount: 2, MaxCount: 2, ...named('twin') })
  await first.launchOne(named('single'))
  first.advance(bootMs)
  const titles = async () => {
    const addresses = ['127.64.0.1', '127.64.0.2', '127.64.0.3']
    const pages = await Promise.all(addresses.map(async (ip) => (await open(`http://${ip}:${webPort}/`)).text()))
    return pages.map((page) => /<title>(.*?)<\/title>/.exec(page)?.[1])
  }
  const second = await first.restart()
  expect(await titles()).toEqual(['twin', 'twin', 'single'])
  expect(second.ec2.instances().map((instance) => instance.publicIp)).toEqual([
    '127.64.0.1',
    '127.64.0.2',
    '127.64.0.3',
  ])
})

test('reports an unavailable address once, and still runs the instance', async () => {
  const webPort = await freePort()
  const other = createServer().listen(webPort, '127.64.0.1')
  const said: string[] = []
  const { launchOne, find, advance } = await localEc2({ webPort, log: (sentence) => said.push(sentence) })
  const id = await launchOne()
  advance(bootMs)
  expect((await find(id))?.State?.Name).toBe('running')
  await find(id)
  expect(said).toEqual([
    `EC2 stand-in: ${id} runs but http://127.64.0.1:${webPort} cannot be opened (EADDRINUSE): end the program that listens on port ${webPort} there.`,
  ])
  await new Promise((resolve) => other.close(resolve))
})

test('a machine whose image is missing serves nothing, and shuts itself down', async () => {
  const webPort = await freePort()
  const { launchOne, find, advance, terminate, ec2 } = await localEc2({ webPort })
  const id = await launchOne(tagged({ image: 'registry.invalid/sim:1' }))
  const early = await launchOne(tagged({ image: 'registry.invalid/sim:1' }))
  advance(bootMs)
  expect(await find(id)).toMatchObject({ State: { Name: 'running' }, PublicIpAddress: '127.64.0.1' })
  expect((await find(id))?.StateReason).toBeUndefined()
  expect(await answers(`http://127.64.0.1:${webPort}/`)).toBe(false)
  await terminate(early)
  advance(5_000)
  expect(await find(id)).toMatchObject({
    State: { Name: 'terminated' },
    StateReason: { Code: 'Client.InstanceInitiatedShutdown' },
  })
  expect(await find(early)).toMatchObject({ StateReason: { Code: 'Client.UserInitiatedShutdown' } })
  expect(ec2.history().map(({ shuttingDownAt, runningAt }) => (shuttingDownAt ?? 0) - (runningAt ?? 0))).toEqual([
    1_500, 0,
  ])
})
