import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Instance } from '../../../dev/ec2/instance.ts'
import { type Batch, MachineLog } from '../../../dev/ec2/machine-log.ts'
import { waitFor } from '../../../testing/people/client.ts'
import { serve } from '../../../testing/stack/serve.ts'
import { bootMs, localEc2, tagged } from './local-ec2.ts'

type Options = { told?: object; everySeconds?: number; keyStatus?: () => number; logStatus?: () => number }

/** The site, as machines see it: it keeps each line once, and knows machines by their address. */
async function site({ told = {}, everySeconds = 30, keyStatus = () => 200, logStatus = () => 200 }: Options = {}) {
  const said: { n: number; at: number; source: string; text: string }[] = []
  const batches: Batch[] = []
  const calls: string[] = []
  const addresses = new Set<unknown>()
  const url = await serve(async (request: IncomingMessage, response) => {
    const text = String(await buffer(request))
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    addresses.add(request.headers['cf-connecting-ip'])
    if (request.url === '/machines/key') {
      calls.push('key')
      if (keyStatus() !== 200) return answer(keyStatus(), {})
      expect(Object.keys(JSON.parse(text))).toEqual(['document', 'signature'])
      return answer(200, { key: `key-${calls.length}`, expires_at: '', run: 'run', ...told })
    }
    if (request.url !== '/machines/log') return answer(404, {})
    const status = logStatus()
    calls.push(`log ${status} ${request.headers.authorization}`)
    if (status !== 200) return answer(status, { code: 'unauthorized' })
    expect(text.length).toBeLessThanOrEqual(256_000)
    const batch = JSON.parse(text) as Batch
    batches.push(batch)
    batch.lines.forEach((line, i) => {
      if (batch.first + i === said.length + 1) said.push({ n: batch.first + i, ...line })
    })
    return answer(200, { next: said.length + 1, every_seconds: everySeconds })
  })
  const phases = () => batches.flatMap(({ phase }) => phase ?? [])
  const printed = (source: string) => said.filter((line) => line.source === source).map(({ text }) => text)
  return { url, said, batches, calls, addresses, phases, printed }
}

/** A machine's voice without a stand-in around it, so that a test knows when it has nothing to say. */
function aloneWith(siteUrl: string, tags: Record<string, string> = {}) {
  let time = Date.UTC(2026, 10, 21, 12)
  const instance: Instance = {
    ...{ id: 'i-0', reservationId: 'r-0', sequence: 1, launchIndex: 0, clientToken: null, tokenZone: null, slot: 0 },
    ...{ fingerprint: '', instanceType: 'g6.4xlarge', imageId: 'ami-0', availabilityZone: 'us-east-1a', tags },
    ...{ launchedAt: time - bootMs, runsFrom: time, shutDownAt: null, terminatedFrom: null, stateReason: null },
  }
  const proof = () => ({ document: '', signature: '' })
  const log = new MachineLog(instance, { siteUrl, proof, address: '127.64.0.1', now: () => time, onSend: () => {} })
  const advance = (ms: number) => {
    time += ms
  }
  return { log, advance }
}

const image = (name: string) => tagged({ image: name })

test('a machine says what it does and what its simulator prints, once, from its own address', async () => {
  const { url, said, calls, addresses, phases, batches } = await site()
  const { launchOne, advance, terminate } = await localEc2({ siteUrl: url })
  const id = await launchOne(image('example.com/blocks:1'))
  advance(bootMs)
  await waitFor(async () => phases().length === 3)
  expect(phases().map(({ name }) => name)).toEqual(['pulling', 'pulled', 'started'])
  advance(1_000)
  await waitFor(async () => said.length === 4)
  const start = Date.UTC(2026, 10, 21, 12) + bootMs
  expect(said).toEqual([
    { n: 1, at: start, source: 'machine', text: 'Pulling example.com/blocks:1' },
    { n: 2, at: start, source: 'machine', text: 'Pulled example.com/blocks:1' },
    { n: 3, at: start, source: 'machine', text: 'Started the program' },
    { n: 4, at: start, source: 'stdout', text: 'Simulator ready on port 5173' },
  ])
  await terminate(id)
  await waitFor(async () => batches.at(-1)?.complete === true)
  expect(said.at(-1)).toMatchObject({ n: 5, source: 'machine', text: 'Stopping' })
  expect(calls.filter((call) => call === 'key')).toHaveLength(1)
  expect([...addresses]).toEqual(['127.64.0.1'])
})

test('exits:3 says hello and exits with 3 after 2 s, three times, and its machine shuts itself down', async () => {
  const { url, phases, printed, batches } = await site()
  const { launchOne, advance, find } = await localEc2({ siteUrl: url })
  const id = await launchOne(image('example.com/exits:3'))
  advance(bootMs + 1_999)
  await waitFor(async () => phases().length === 3)
  advance(1)
  await waitFor(async () => phases().length === 4)
  expect(phases().at(-1)).toEqual({ name: 'exited', exit_code: 3, oom: false, tries: 1, answered: false })
  advance(1_000 + 2_000 + 5_000 + 2_000)
  await waitFor(async () => batches.at(-1)?.complete === true)
  expect(phases().map(({ name }) => name)).toEqual(
    ['pulling', 'pulled', ...Array(3).fill(['started', 'exited']).flat(), 'failed'], // prettier-ignore
  )
  expect(phases().at(-1)).toMatchObject({ code: 'exited', exit_code: 3 })
  expect(printed('stdout')).toEqual(['hello', 'hello', 'hello'])
  expect((await find(id))?.State?.Name).toBe('running')
  advance(1_000)
  const ended = await find(id)
  expect([ended?.State?.Name, ended?.StateReason?.Code]).toEqual(['shutting-down', 'Client.InstanceInitiatedShutdown'])
})

test('lasts:20 exits with 0, 20 s after a pull of 3 s', async () => {
  const { url, phases } = await site()
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('example.com/lasts:20'))
  advance(bootMs + 3_000 + 19_999)
  await waitFor(async () => phases().at(-1)?.name === 'started')
  advance(1)
  await waitFor(async () => phases().at(-1)?.name === 'exited')
})

test('a program gets its parameters and secrets, and the machine hides secrets, the longest first', async () => {
  const secrets = {
    A: 'hunter2hunter2',
    B: 'hunter2hunter2-and-more',
    C: 'short',
    D: ' first "line"  ',
    E: '12\n3456\n789',
  }
  const told = { parameters: { SCENARIO: 'fog' }, secrets, command: ['first "line"', '{"D": "first \\"line\\""}'] }
  const { url, phases, printed } = await site({ told })
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('example.com/exits:0'))
  advance(bootMs)
  await waitFor(async () => phases().length === 3)
  advance(1_000)
  await waitFor(async () => printed('stdout').length > 0)
  const variables = ['SCENARIO=fog', 'A=***', 'B=***', 'C=short', 'D= ***  ', 'E=***']
  expect(printed('stdout')).toEqual(['hello', ...variables, '***', '{"D": "***"}'])
})

test.each([
  [null, 'image_denied'],
  [{ username: 'robot', token: 'wrong' }, 'image_login_refused'],
  [{ username: 'eve', token: 'let-me-in' }, 'image_login_refused'],
  [{ username: 'robot', token: 'expired' }, 'image_login_expired'],
  [{ username: 'robot', token: 'let-me-in' }, null],
])('a private image with the login %o ends with %s', async (given, code) => {
  const registry = given && { host: 'registry.example.com', ...given }
  const { url, phases } = await site({ told: { registry } })
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('registry.example.com/private:1'))
  advance(bootMs + 1_000)
  await waitFor(async () => phases().length > 2 || phases().at(-1)?.name === 'failed')
  const last = phases().at(-1)
  expect(last?.name === 'failed' ? last.code : null).toBe(code)
})

test('without a secret, a program does not start', async () => {
  const { url, phases, printed, batches } = await site({ told: { secrets: { A: 'hunter2hunter2', B: null } } })
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('example.com/exits:0'))
  advance(bootMs + 1_000)
  await waitFor(async () => batches.at(-1)?.complete === true)
  expect(phases().at(-1)).toMatchObject({ name: 'failed', code: 'secret_missing', exit_code: null })
  expect(printed('machine').at(-1)).toBe("The secret B is gone, so the program didn't start.")
  expect(printed('stdout')).toEqual([])
})

test('throws:1 prints a traceback of eight lines, and exits at once', async () => {
  const { url, phases, printed } = await site()
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('example.com/throws:1'))
  advance(bootMs)
  await waitFor(async () => phases().some(({ name }) => name === 'exited'))
  expect(printed('stderr')).toHaveLength(8)
  expect(printed('stderr')[0]).toBe('Traceback (most recent call last):')
})

test('floods:1 sends its 200,000 lines, at most 256 KB of them a second', async () => {
  const { url, said, printed, batches } = await site({ everySeconds: 1 })
  const { log, advance } = aloneWith(url, { image: 'example.com/floods:1' })
  const full = () => batches.filter(({ lines }) => lines.length > 1_000).length
  for (let seconds = 1; said.length < 200_004 && seconds < 100; seconds++) {
    // The first ones also say what the machine does.
    for (let looks = 0; looks < 6; looks++) await log.look()
    expect(full()).toBeLessThanOrEqual(seconds)
    advance(1_000)
  }
  const lines = printed('stdout')
  expect([lines.length, lines[1], lines.at(-1)]).toEqual([200_001, 'line 1', 'line 200000'])
})

test('slow:100 pulls for 100 s, and says how far it is each second', async () => {
  const { url, phases, batches } = await site({ everySeconds: 1 })
  const { log, advance } = aloneWith(url, { image: 'example.com/slow:100' })
  for (let second = 0; second <= 100; second++) {
    for (let looks = 0; looks < 4; looks++) await log.look()
    advance(1_000)
  }
  expect(phases().slice(0, 3)).toEqual([
    { name: 'pulling', percent: 0, bytes: 0 },
    { name: 'pulling', percent: 1, bytes: 2_000_000 },
    { name: 'pulling', percent: 2, bytes: 4_000_000 },
  ])
  expect(phases().length).toBeLessThan(105)
  expect(phases().map(({ name }) => name)).toEqual([...Array(phases().length - 2).fill('pulling'), 'pulled', 'started'])
  expect(batches.filter(({ phase, lines }) => phase?.name === 'pulling' && lines.length > 0)).toHaveLength(1)
})

test('stuck:1 stops at 42 %, and its machine gives up two minutes later', async () => {
  const { url, phases } = await site()
  const { launchOne, advance, find } = await localEc2({ siteUrl: url })
  const id = await launchOne(image('example.com/stuck:1'))
  advance(bootMs + 20_000)
  await waitFor(async () => phases().length > 0)
  advance(30_000)
  await waitFor(async () => phases().length > 1)
  expect(phases().at(-1)).toMatchObject({ name: 'pulling', percent: 42 })
  advance(89_999)
  expect(phases().at(-1)?.name).toBe('pulling')
  advance(1)
  await waitFor(async () => phases().at(-1)?.name === 'failed')
  expect(phases().at(-1)).toMatchObject({ code: 'image_stuck', exit_code: null })
  advance(1_000)
  expect((await find(id))?.State?.Name).toBe('shutting-down')
})

test('an image that is not there is said before the machine shuts itself down', async () => {
  const { url, phases } = await site()
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne(image('registry.invalid/sim:1'))
  advance(bootMs + 500)
  await waitFor(async () => phases().length === 2)
  expect(phases().at(-1)).toMatchObject({ name: 'failed', code: 'image_not_found', exit_code: null })
})

test.each([
  ['every 30 s', 30, 4],
  ['with a reader, every 10 s', 1, 12],
])('a quiet machine sends its samples %s', async (_, everySeconds, inTwoMinutes) => {
  const { url, batches } = await site({ everySeconds })
  const { log, advance } = aloneWith(url)
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      advance(1_000)
      await log.look()
    }
  }
  // While its container is new, nobody waits.
  await pass(120)
  const before = batches.length
  await pass(120)
  const late = batches.slice(before)
  expect([late.length, late.flatMap(({ samples }) => samples).length]).toEqual([inTwoMinutes, 12])
})

test('a restart of the stack repeats nothing', async () => {
  const { url, said, phases } = await site()
  const ec2 = await localEc2({ siteUrl: url })
  await ec2.launchOne()
  ec2.advance(bootMs)
  await waitFor(async () => phases().length === 3)
  const { terminate, ec2: again } = await ec2.restart()
  await terminate(again.instances()[0]?.instanceId ?? '')
  await waitFor(async () => said.at(-1)?.text === 'Stopping')
  expect(phases()).toHaveLength(3)
  expect(said).toHaveLength(5)
})

test('gets a new key when its own ended, and backs off while the site is in trouble', async () => {
  const statuses = [200, 401, 503, 503]
  const { url, phases, calls } = await site({ logStatus: () => statuses.shift() ?? 200 })
  const { launchOne, advance } = await localEc2({ siteUrl: url })
  await launchOne()
  advance(bootMs)
  await waitFor(async () => calls.length === 3)
  advance(1_000)
  await waitFor(async () => calls.length === 5)
  advance(2_000)
  await waitFor(async () => calls.length === 6)
  advance(4_000)
  await waitFor(async () => phases().length === 3)
  expect(calls.slice(0, 5).map((call) => call.slice(0, 7))).toEqual(['key', 'log 200', 'log 401', 'key', 'log 503'])
})

test.each([
  ['that knows no such call', () => 404, () => 200, 1],
  ['where the run is over', () => 200, () => 403, 2],
])('stays silent at a site %s', async (_, keyStatus, logStatus, expected) => {
  const { url, calls } = await site({ keyStatus, logStatus })
  const { log, advance } = aloneWith(url)
  for (let i = 0; i < 3; i++) {
    await log.look()
    advance(3_600_000)
  }
  expect([log.isOver, calls.length]).toEqual([true, expected])
})
