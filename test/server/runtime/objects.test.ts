import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../dev/free-port.ts'
import { startServices } from '../../../dev/services.ts'
import { builtModules } from '../../../dev/stack.ts'
import { startWorkerd } from '../../../dev/workerd.ts'
import { openObjects } from '../../../src/server/runtime/objects.ts'
import type { Env } from '../../../src/server/settings/env.ts'
import { jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { ownUpgrade, upgradeAnswer } from '../../../testing/people/cable-upgrade.ts'
import { newPerson, PASSWORD, waitFor } from '../../../testing/people/client.ts'
import { newAddress } from '../../../testing/people/sign-up.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'

/** Objects whose next call fails as in a deploy. As on the platform, a stub that has failed keeps failing. */
function fallingObjects() {
  const made: string[] = []
  let failures = 0
  const namespace = (object: string) => ({
    getByName(name: string) {
      let isBroken = false
      return new Proxy({} as never, {
        get: (_, call: string) => async () => {
          made.push(`${object} ${name} ${call}`)
          if (!isBroken && failures === 0) return 'an answer'
          if (!isBroken) failures--
          isBroken = true
          throw Object.assign(new Error('Network connection lost.'), { retryable: true })
        },
      })
    },
  })
  const names = ['JOB_CHANNEL', 'FLEET_WATCHER', 'EVENT_SENDER', 'ATTEMPT_COUNTER', 'PASSWORD_HASHER']
  const env = Object.fromEntries(names.map((name) => [name, namespace(name)])) as unknown as Env
  return {
    objects: openObjects(env),
    fail: (times: number) => {
      failures = times
      made.length = 0
    },
    made,
  }
}

const falling = fallingObjects()
const { channel, fleetWatcher, eventSender, counter, hasher } = falling.objects
const CALLS = Object.entries({ channel, fleetWatcher, eventSender, counter, hasher: () => hasher }).flatMap(
  ([object, open]) => Object.entries(open('x')).map(([name, call]) => [`${object}.${name}`, call as () => unknown]),
) as [string, () => Promise<unknown>][]
/** A second run would give a thief a guess. */
const ONCE = ['counter.takeBack']

test.each(CALLS)('%s survives an object that falls over once, on a new stub', async (name, call) => {
  falling.fail(1)
  if (ONCE.includes(name)) await expect(call()).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 })
  else expect(await call()).toBe('an answer')
  expect(falling.made).toHaveLength(ONCE.includes(name) ? 1 : 2)
})

test('a hash is repeated on another object', async () => {
  falling.fail(1)
  await hasher.derive({} as never)
  expect(new Set(falling.made).size).toBe(2)
})

/** The built Worker, whose objects fail the call that a test names: POST /break?call=JobChannel.arm&times=1. */
const BREAKING = `import * as built from './index.js'
  export * from './index.js'
  let broken = { call: '', times: 0 }
  export default {
    ...built.default,
    fetch(request, env, ctx) {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname !== '/break') return built.default.fetch(request, env, ctx)
      const { times } = broken
      broken = { call: searchParams.get('call'), times: Number(searchParams.get('times')) }
      return new Response(String(times))
    },
  }
  function breaking(object) {
    class Breaking extends built[object] {}
    for (const name of Object.getOwnPropertyNames(built[object].prototype).filter((name) => name !== 'constructor'))
      Breaking.prototype[name] = function (...args) {
        if (broken.call !== object + '.' + name || broken.times === 0)
          return built[object].prototype[name].apply(this, args)
        broken.times--
        throw Object.assign(new Error('Network connection lost.'), { retryable: true })
      }
    return Breaking
  }
  export const JobChannel = breaking('JobChannel')
  export const AttemptCounter = breaking('AttemptCounter')`

const port = await freePort()
const url = `http://localhost:${port}`
const dataDir = temporaryFolder('proving-ground-objects')
const services = await startServices({ dataDir, port, log: () => {} })
const { devRoutes } = await import('../../../dev/dev-routes.ts')
const workerd = await startWorkerd({
  host: 'localhost',
  port,
  dataDir,
  services,
  modules: [{ type: 'ESModule', path: 'breaking.js', contents: BREAKING }, ...builtModules()],
  devRoutes: async (request) => devRoutes(services, workerd.runCron).fetch(request),
})
afterAll(async () => {
  await workerd.close()
  await services.close()
})

const ada = await newPerson(url)
const made = await ada.post<{ token: string }>('/api_tokens', { name: 'CI', scope: 'read', current_password: PASSWORD })

type Answer = { status: number; headers?: Headers }
/** What a person or a program does, and how it is answered if all goes well. */
const ACTS: Record<string, [status: number, act: () => Promise<Answer>]> = {
  'AttemptCounter.guess': [200, () => ada.signIn(ada.email, PASSWORD)],
  'AttemptCounter.forgive': [200, () => ada.signIn(ada.email, PASSWORD)],
  'AttemptCounter.take': [
    200,
    () => ada.post('/api/v1/contact_sales', { name: 'A', email: newAddress(), source: 'Referral', message: 'Hello' }),
  ],
  'AttemptCounter.takeExactly': [200, () => ada.post('/api/v1/feedback', { message: 'Hello' })],
  'AttemptCounter.spend': [
    200,
    () => ada.request('GET', '/api/v1/servers/get_servers', undefined, { Authorization: `Bearer ${made.body.token}` }),
  ],
  'JobChannel.arm': [202, () => ada.post('/api/v1/aws/auto_cloud_start_request')],
  'JobChannel.fetch': [101, () => upgradeAnswer(ada, ownUpgrade(ada))],
}

/** @returns how many failures of the last call were left */
const breakNext = async (call: string, times: number) =>
  Number(await (await fetch(`${url}/break?call=${call}&times=${times}`, { method: 'POST' })).text())

test.each(Object.entries(ACTS))(
  'while %s fails, people hear when to try again; if it failed once, nothing',
  async (call, [status, act]) => {
    await breakNext(call, 1_000)
    const busy = await act()
    expect(busy.status).toBe(503)
    if (busy.headers) expect(busy.headers.get('Retry-After')).toBe('5')
    expect(await breakNext(call, 1)).toBe(998)
    expect((await act()).status).toBe(status)
    expect(await breakNext('', 0)).toBe(0)
  },
)

test('while no object hashes, a sign-in hears when to try again, and a guess that nobody could take back counts', async () => {
  const { hashers } = services
  services.hashers = { getByName: () => ({ derive: () => Promise.reject(new Error('The hasher is gone.')) }) }
  await breakNext('AttemptCounter.takeBack', 1_000)
  const busy = await ada.signIn(ada.email, PASSWORD)
  expect([busy.status, busy.headers.get('Retry-After')]).toEqual([503, '5'])
  expect(await breakNext('', 0)).toBe(999)
  services.hashers = hashers
  expect((await ada.signIn(ada.email, PASSWORD)).status).toBe(200)
})

test('a job starts and a socket closes at once, although the first call for it failed', async () => {
  const bob = await newPerson(url)
  const cable = await openSocket(bob)
  cable.subscribe(jobsChannel(bob.id))
  await cable.until(JSON.stringify({ identifier: jobsChannel(bob.id), type: 'confirm_subscription' }))
  await breakNext('JobChannel.wake', 1)
  expect((await bob.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  await waitFor(async () => cable.jobs().length)
  expect(await breakNext('JobChannel.disconnect', 1)).toBe(0)
  await bob.request('DELETE', '/users/sign_out')
  await cable.closing()
  expect(await breakNext('', 0)).toBe(0)
})
