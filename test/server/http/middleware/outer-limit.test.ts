import { connect, type Socket } from 'node:net'
import { Miniflare } from 'miniflare'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Identities, openIdentities } from '../../../../dev/ec2/identity.ts'
import type { Instance } from '../../../../dev/ec2/instance.ts'
import { freePort } from '../../../../dev/free-port.ts'
import { startServices } from '../../../../dev/services.ts'
import { builtModules } from '../../../../dev/stack.ts'
import { Store } from '../../../../dev/stand-in/store.ts'
import { workerdOptions } from '../../../../dev/workerd.ts'
import { readWranglerConfig } from '../../../../dev/wrangler-config.ts'
import { runKeyUntil } from '../../../../src/server/fleet/machines/run-key.ts'
import { answerMachine } from '../../../../src/server/routes/fleet/machine-log.ts'
import { createContext } from '../../../../src/server/runtime/create-context.ts'
import { atEnd, temporaryFolder } from '../../../../testing/stack/at-end.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { BUCKET, openSite, SITE } from '../../../../testing/stack/site.ts'

const SENTENCE = 'Too many requests from your network. Please try again in a minute.'
const FULL = { limit: async () => ({ success: false }) }
const from = (address: string) => ({ headers: { 'CF-Connecting-IP': address } })

test('what the platform counts as too much gets 429, Retry-After, and a sentence, before anything is read', async () => {
  const site = await openSite({ OUTER_LIMIT: FULL, LIBSQL_URL: 'http://127.0.0.1:1' })
  const cookie = (await site.signInAs('user')).cookie
  const call = await site.request('/api/v1/users/get_session', {
    headers: { ...from('203.0.113.7').headers, Cookie: cookie },
  })
  expect([call.status, call.headers.get('Retry-After')]).toEqual([429, '60'])
  expect(await call.json()).toMatchObject({ error: SENTENCE, errors: [SENTENCE] })
  const page = await site.request('/dashboard', from('203.0.113.7'))
  expect([page.status, page.headers.get('Retry-After'), page.headers.get('Cache-Control')]).toEqual([
    429,
    '60',
    'private, no-store',
  ])
  expect(await page.text()).toContain(SENTENCE)
  const change = await site.request('/users', { method: 'POST', ...from('203.0.113.7') })
  expect(change.status).toBe(429)
})

test('counts an IPv4 address separately, and a /64 of IPv6 as one', async () => {
  const keys: string[] = []
  const site = await openSite({
    OUTER_LIMIT: {
      async limit({ key }) {
        keys.push(key)
        return { success: true }
      },
    },
  })
  for (const address of ['203.0.113.7', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9'])
    expect((await site.request('/pricing', from(address))).status).toBe(200)
  expect(keys).toEqual(['203.0.113.7', '2001:db8:1:2', '2001:db8:1:2'])
})

test('does not count loopback, a missing address, or Stripe', async () => {
  const site = await openSite({ OUTER_LIMIT: FULL })
  for (const address of ['127.0.0.1', '::1']) expect((await site.request('/pricing', from(address))).status).toBe(200)
  expect((await site.request('/pricing')).status).toBe(200)
  expect((await site.request('/pricing', { headers: { 'X-Forwarded-For': '203.0.113.7' } })).status).toBe(200)
  expect((await site.request('/webhooks/stripe', { method: 'POST', ...from('203.0.113.7') })).status).not.toBe(429)
})

test('a machine counts for itself where others share its address; who proves nothing, for the address', async () => {
  const NAT = '203.0.113.7'
  const amazon = openIdentities(new Store(null))
  const counted: string[] = []
  const OUTER_LIMIT = { limit: async ({ key }: { key: string }) => ({ success: counted.push(key) > 0 && key !== NAT }) }
  const site = await openSite({ OUTER_LIMIT, AWS_IDENTITY_CERTIFICATE: amazon.certificate, ...BUCKET })
  const proofBy = (by: Identities) =>
    by.proofOf({ id: 'i-0123456789abcdef0', launchedAt: 0, availabilityZone: 'us-east-1a' } as Instance, 0)
  const post = async (path: string, body: unknown, more = {}) => {
    const text = JSON.stringify(body)
    const headers = {
      ...from(NAT).headers,
      'Content-Type': 'application/json',
      'Content-Length': `${text.length}`,
      ...more,
    }
    return (await site.request(path, { method: 'POST', body: text, headers })).status
  }
  for (const path of ['/machines/credentials', '/machines/key', '/machines/files']) {
    const said = { ...proofBy(amazon), phase: 'loaded' }
    // Nothing runs on it: its proof alone decides what is counted.
    expect(await post(path, said)).toBe(403)
    for (const unproven of [
      proofBy(openIdentities(new Store(null))),
      { document: 1 },
      null,
      { ...said, x: 'x'.repeat(8192) },
    ])
      expect(await post(path, { ...unproven })).toBe(429)
    expect(await post(path, said, { Cookie: 'sign_in=x' })).toBe(429)
    expect(counted.splice(0)).toEqual(['i-0123456789abcdef0', NAT, NAT, NAT, NAT, NAT])
  }

  const ctx = await createContext(
    site.env,
    () => {},
    () => {},
  )
  const say = async (key: string) => {
    const headers = { ...from(NAT).headers, Authorization: `Bearer ${key}` }
    const body = JSON.stringify({ first: 1, lines: [], complete: false })
    return (await answerMachine(ctx, site.env, new Request(`${SITE}/machines/log`, { method: 'POST', headers, body })))
      .status
  }
  const key = (expiresAt: number, run = 'ses_1') => runKeyUntil(ctx.config.secretKey, run, expiresAt)
  expect(await say(key(Date.now() + 60_000))).toBe(200)
  // Its machine must hear that the key ended.
  expect(await say(key(Date.now() - 1))).toBe(401)
  expect(await say(key(Date.now() + 60_000).replace('ses_1', 'ses_2'))).toBe(429)
  expect(counted).toEqual(['ses_1', 'ses_1', NAT])
})

test('a binding that fails, answers nonsense, or is missing admits everyone', async () => {
  const broken = {
    limit() {
      throw new Error('the platform is having a day')
    },
  }
  for (const OUTER_LIMIT of [broken, { limit: async () => undefined as never }, undefined]) {
    const site = await openSite({ OUTER_LIMIT } as never)
    expect((await site.request('/pricing', from('203.0.113.7'))).status).toBe(200)
    expect(inBrief(site.takeLines())).toEqual(OUTER_LIMIT === broken ? ['request_failed'] : [])
  }
})

test('the built Worker with the binding of wrangler.toml, simulated by workerd: one address is full, another is not', async () => {
  const dataDir = temporaryFolder('proving-ground-outer-limit')
  const port = await freePort()
  const services = await startServices({ dataDir, port, webPort: await freePort(), log: () => {} })
  const options = workerdOptions({ host: 'localhost', port, dataDir, services, modules: builtModules() })
  const binding = options.workers.find(({ config }) => config.name === 'app')?.config.env?.OUTER_LIMIT as unknown as {
    namespace: string
    simple: { limit: number; period: number }
  }
  expect(binding).toMatchObject({ type: 'rate-limit', simple: readWranglerConfig().rateLimits.OUTER_LIMIT?.simple })
  expect(binding.simple).toEqual({ limit: 1_200, period: 60 })
  binding.simple.limit = 3
  const mf = new Miniflare(options)
  atEnd(async () => {
    await mf.dispose()
    await services.close()
  })
  await mf.ready
  const ask = async (address: string) => (await fetch(`http://localhost:${port}/sign_in`, from(address))).status
  const statuses: number[] = []
  // Windows follow the clock: of seven in two windows, one has at least four.
  for (let i = 0; i < 7; i++) statuses.push(await ask('203.0.113.7'))
  expect(statuses.slice(0, 3)).toEqual([200, 200, 200])
  expect(statuses).toContain(429)
  expect(await ask('203.0.113.8')).toBe(200)
  for (let i = 0; i < 7; i++) expect(await ask('127.0.0.1')).toBe(200)

  // One request ends the body of another: workerd lets a promise of one be rejected in the other.
  const head = `POST /users/confirmation HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${SITE}\r\nContent-Type: application/json`
  const idle: { answer: string; socket: Socket }[] = []
  const begin = () => {
    const one = { answer: '', socket: connect(port, 'localhost') }
    one.socket.on('data', (part) => {
      one.answer += part
    })
    onTestFinished(() => void one.socket.destroy())
    one.socket.write(`${head}\r\nContent-Length: 65536\r\n\r\n{`)
    idle.push(one)
  }
  for (let i = 0; i < 65; i++) begin()
  await vi.waitFor(() => expect(idle.filter(({ answer }) => answer.startsWith('HTTP/1.1 408'))).toHaveLength(1), {
    timeout: 15_000,
  })
  const body = JSON.stringify({ user: { email: 'nobody' } })
  const headers = { Origin: `http://localhost:${port}`, 'Content-Type': 'application/json' }
  const whole = await fetch(`http://localhost:${port}/users/confirmation`, { method: 'POST', headers, body })
  expect(whole.status).toBe(422)
  await vi.waitFor(() => expect(idle.filter(({ answer }) => answer)).toHaveLength(2), { timeout: 15_000 })
})
