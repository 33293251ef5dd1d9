import { eq } from 'drizzle-orm'
import { beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { runs } from '../../../db/schema/fleet.ts'
import type { LogLine, LogPart } from '../../../src/domain/run-log.ts'
import { type Client, newPerson, PASSWORD, waitFor } from '../../../testing/people/client.ts'
import { type Machine, machinesOf, type Post } from '../../../testing/people/machines.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))
const { askKey, nextOf, post, say, startMachine } = machinesOf(url, inject('databaseUrl'))

const read = async (person: Client, id: string, after = 0) =>
  (await person.get(`/api/v1/servers/${id}/log?after=${after}`)).body as unknown as LogPart
const linesOf = async (person: Client, id: string, after = 0) => (await read(person, id, after)).lines

let ada: Awaited<ReturnType<typeof newPerson>>
let machine: Machine

beforeAll(async () => {
  ada = await newPerson(url)
  machine = await startMachine(ada)
})

test("a machine's lines are in the log in order, numbered, each once", async () => {
  const next = await nextOf(machine)
  const lines: Post['lines'] = [
    ['stdout', 'one'],
    ['stderr', 'two'],
  ]
  const answer = await say(machine, { first: next, lines })
  expect(await answer.json()).toEqual({ next: next + 2, every_seconds: 1 })
  // Sent twice, because an answer was lost, with one more.
  expect((await say(machine, { first: next, lines: [...lines, ['machine', 'three']] })).status).toBe(200)
  const got = await linesOf(ada, machine.id, next - 1)
  expect(got.map(({ n, source, text }) => [n - next, source, text])).toEqual([
    [0, 'stdout', 'one'],
    [1, 'stderr', 'two'],
    [2, 'machine', 'three'],
  ])
})

test('what a machine could not send leaves a gap in the numbers', async () => {
  const next = await nextOf(machine)
  await say(machine, { first: next + 10, lines: [['stdout', 'later']] })
  const part = await read(ada, machine.id, next - 1)
  expect(part.lines.map(({ n, text }) => [n - next, text])).toEqual([[10, 'later']])
  expect(part).toMatchObject({ next: next + 10, complete: false })
  // Out of order, after what came later: the site has moved on.
  await say(machine, { first: next, lines: [['stdout', 'too late']] })
  expect(await linesOf(ada, machine.id, next + 10)).toEqual([])
})

test('a line of more than 8,192 bytes is cut between two characters, and line breaks and lone surrogates go', async () => {
  const next = await nextOf(machine)
  const long = `a${'é'.repeat(5_000)}`
  const lines: Post['lines'] = [
    ['stdout', long],
    ['stdout', 'x\r\n# not a machine\u2028'],
    ['stdout', '10 %\r20 %\r\r30 %\r'],
    ['stdout', '\ud800 alone'],
    ['stdout', 'b'.repeat(8_192)],
    ['stdout', 'b'.repeat(8_193)],
    ['stdout', `${'c'.repeat(8_192)}… (9000 bytes more)`],
    ['stdout', `${'c'.repeat(8_193)}… (9000 bytes more)`],
    ['stdout', `\u2028${'c'.repeat(8_189)}… (9000 bytes more)`],
    ['stdout', `x… (${'9'.repeat(9_000)} bytes more)`],
  ]
  expect((await say(machine, { first: next, lines })).status).toBe(200)
  const texts = (await linesOf(ada, machine.id, next - 1)).map(({ text }) => text)
  expect(texts).toEqual([
    `a${'é'.repeat(4_095)}… (1810 bytes more)`,
    'x # not a machine\u2028',
    '30 %',
    '\ufffd alone',
    'b'.repeat(8_192),
    `${'b'.repeat(8_192)}… (1 bytes more)`,
    `${'c'.repeat(8_192)}… (9000 bytes more)`,
    `${'c'.repeat(8_192)}… (22 bytes more)`,
    `\u2028${'c'.repeat(8_189)}… (9000 bytes more)`,
    `x… (${'9'.repeat(8_186)}… (826 bytes more)`,
  ])
})

test("only the run's own machine writes its log, with a key that we signed and that still counts", async () => {
  const [runId, expires, signature] = machine.key.split('.')
  const other = await newPerson(url)
  const theirs = await startMachine(other)
  const refused = {
    none: '',
    'a text': 'let-me-in',
    'their run, my signature': `${theirs.id}.${expires}.${signature}`,
    'a later end': `${runId}.${Number(expires) + 1}.${signature}`,
    'an end that is no number': `${runId}.Infinity.${signature}`,
  }
  for (const [what, key] of Object.entries(refused)) {
    const answer = await say({ key }, { first: 1, lines: [['stdout', 'stolen']] })
    expect([what, answer.status]).toEqual([what, 401])
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated' })
  }
  expect((await askKey(machine.proof, '203.0.113.9')).status).toBe(403)
  expect((await askKey(theirs.proof, machine.address)).status).toBe(403)
  expect((await linesOf(other, theirs.id)).some(({ text }) => text === 'stolen')).toBe(false)
  expect((await linesOf(ada, machine.id)).some(({ text }) => text === 'stolen')).toBe(false)
})

test('a batch over 256 KiB, one of the wrong shape, and another method are refused', async () => {
  const headers = { Authorization: `Bearer ${machine.key}` }
  const body = (size: number) => JSON.stringify({ first: 1, lines: [], complete: false, pad: 'x'.repeat(size) })
  const most = 256 * 1024 - body(0).length
  expect((await post('/machines/log', body(most), headers)).status).toBe(200)
  expect((await post('/machines/log', body(most + 1), headers)).status).toBe(413)
  const wrongs: Post[] = [
    { first: 0 },
    { first: 1.5 },
    { first: 1, lines: [['file', 'x']] },
    { first: 1, phase: { name: 'failed', code: 'made_up', exit_code: 1, why: '' } },
    { first: 1, phase: { name: 'exited', exit_code: 256, oom: false } },
  ]
  for (const wrong of wrongs) {
    const answer = await say(machine, wrong)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid' })
  }
  expect((await post('/machines/log', '{', headers)).status).toBe(400)
  expect((await fetch(`${url}/machines/log`)).status).toBe(405)
})

test('nobody reads, follows, downloads, or deletes the log of somebody else', async () => {
  const mallory = await newPerson(url)
  for (const path of [`/api/v1/servers/${machine.id}/log`, `/servers/${machine.id}/log.txt`])
    expect((await mallory.get(path)).status).toBe(404)
  const stream = await mallory.request('GET', `/api/v1/servers/${machine.id}/log`, undefined, {
    Accept: 'text/event-stream',
  })
  expect(stream.status).toBe(404)
  expect((await mallory.request('DELETE', `/api/v1/servers/${machine.id}/log`)).status).toBe(404)
  expect((await fetch(`${url}/api/v1/servers/${machine.id}/log`)).status).toBe(401)
  expect(await linesOf(ada, machine.id)).not.toEqual([])
  expect((await ada.get(`/api/v1/servers/${machine.id}/log?after=x`)).status).toBe(422)
})

type Event = { id?: string; event?: string; data: string }

/** Reads events until `isEnough`, or to the end. */
async function events(answer: Response, isEnough: (all: Event[]) => boolean): Promise<Event[]> {
  const all: Event[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    for (const one of whole) {
      const fields = Object.fromEntries(one.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
      if ('data' in fields) all.push(fields as Event)
    }
    if (isEnough(all)) break
  }
  return all
}

const follow = (person: Client, id: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1/servers/${id}/log`, {
    headers: { Accept: 'text/event-stream', Cookie: person.cookieHeader, ...headers },
  })

test('a reader who follows gets each line once, also after a lost connection, and then the end', async () => {
  const person = await newPerson(url)
  const own = await startMachine(person)
  const next = await nextOf(own)
  const first = await follow(person, own.id)
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  await say(own, { first: next, lines: [['stdout', 'first']] })
  const seen = await events(first, (all) => all.some(({ data }) => data.includes('"first"')))
  expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, i) => i + 1))
  await say(own, { first: next + 1, lines: [['stdout', 'second']] })
  const again = await follow(person, own.id, { 'Last-Event-ID': `${next}` })
  expect((await events(again, (all) => all.length > 0)).map(({ id, data }) => [id, JSON.parse(data).text])).toEqual([
    [`${next + 1}`, 'second'],
  ])
  const third = await follow(person, own.id, { 'Last-Event-ID': `${next + 1}` })
  await person.post('/api/v1/aws/stop_server', { server_id: own.placeId, session_id: own.id })
  const rest = await events(third, () => false)
  expect(rest.at(-1)).toEqual({ event: 'end', data: '{}' })
  const { lines, complete } = await read(person, own.id)
  expect(complete).toBe(true)
  expect(lines.at(-1)).toMatchObject({ n: next + 1, text: 'second' })
  expect((await follow(person, own.id, { 'Last-Event-ID': `${lines.at(-1)?.n}` })).status).toBe(204)
  const late = await say(own, { first: (lines.at(-1)?.n ?? 0) + 1, lines: [['stdout', 'from the grave']] })
  expect([late.status, await late.json()]).toMatchObject([403, { code: 'forbidden' }])
  await waitFor(async () => (await askKey(own.proof, own.address)).status === 403)
})

test('at most 5 readers follow a run, and a sign-out ends what its sign-in follows', async () => {
  const streams = await Promise.all(Array.from({ length: 5 }, () => follow(ada, machine.id)))
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect((await follow(ada, machine.id)).status).toBe(429)

  await ada.request('DELETE', '/users/sign_out')
  for (const stream of streams)
    expect((await events(stream, () => false)).every(({ event }) => event === undefined)).toBe(true)
  await ada.signIn(ada.email, PASSWORD)
  const again = await follow(ada, machine.id)
  expect(again.status).toBe(200)
  await again.body?.cancel()
})

test('each caller gets the kind that it likes best, and a HEAD request takes no reader’s place', async () => {
  const typeOf = async (accept: string, method = 'GET') => {
    const stop = new AbortController()
    const headers = { Accept: accept, Cookie: ada.cookieHeader }
    const answer = await fetch(`${url}/api/v1/servers/${machine.id}/log`, { method, headers, signal: stop.signal })
    stop.abort()
    return `${answer.status} ${answer.headers.get('content-type')?.split(';')[0]}`
  }
  const [json, text, stream] = ['application/json', 'text/plain', 'text/event-stream'].map((type) => `200 ${type}`)
  expect(await typeOf('TEXT/PLAIN')).toBe(text)
  expect(await typeOf('text/html, */*;q=0.8')).toBe(json)
  expect(await typeOf('text/event-stream;q=0, text/plain;q=0.1')).toBe(text)
  expect(await typeOf('application/json;q=0.5, text/plain')).toBe(text)
  expect(await typeOf('application/json, text/event-stream')).toBe(json)
  for (let i = 0; i < 6; i++) expect(await typeOf('text/event-stream', 'HEAD')).toBe(json)
  expect(await typeOf('text/event-stream')).toBe(stream)
})

test('the log as plain text, and without what is deleted', async () => {
  const person = await newPerson(url)
  const own = await startMachine(person)
  const text = await (
    await fetch(`${url}/api/v1/servers/${own.id}/log`, {
      headers: { Accept: 'text/plain', Cookie: person.cookieHeader },
    })
  ).text()
  expect(text).toMatch(/^# Pulling .*\n(# .*\n)*Simulator ready on port 5173\n$/)
  const file = await fetch(`${url}/servers/${own.id}/log.txt`, { headers: { Cookie: person.cookieHeader } })
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${own.id}.txt"`)
  expect(await file.text()).toBe(text)
  const next = await nextOf(own)
  expect((await person.request('DELETE', `/api/v1/servers/${own.id}/log`)).status).toBe(200)
  expect(await linesOf(person, own.id)).toEqual([])
  await say(own, { first: next, lines: [['stdout', 'after']] })
  expect((await linesOf(person, own.id)).map(({ n, text }) => [n, text])).toEqual([[next, 'after']])
})

test("an account's export has the logs of its servers, and of nobody else's", async () => {
  const person = await newPerson(url)
  const own = await startMachine(person)
  const next = await nextOf(own)
  const lines = Array.from({ length: 1_500 }, (_, i): [string, string] => ['stdout', `step ${i}`])
  for (let i = 0; i < 1_500; i += 750) await say(own, { first: next + i, lines: lines.slice(i, i + 750) })
  const { logs } = (await person.get('/api/v1/users/export')).body as { logs: { server: string; lines: LogLine[] }[] }
  expect(logs.map(({ server }) => server)).toEqual([own.id])
  expect(logs[0]?.lines).toEqual([...(await linesOf(person, own.id)), ...(await linesOf(person, own.id, 1_000))])
  expect(logs[0]?.lines.at(-1)?.text).toBe('step 1499')
  const other = await newPerson(url)
  expect((await other.get('/api/v1/users/export')).body.logs).toEqual([])
})

test('a log keeps its first 1 MB and its last 4 MB, and says what is missing between', async () => {
  const person = await newPerson(url)
  const own = await startMachine(person)
  const start = await nextOf(own)
  const [size, count] = [8_000, 30]
  const batches = 30
  for (let i = 0; i < batches; i++) {
    const lines = Array.from({ length: count }, (_, k): [string, string] => [
      'stdout',
      `${start + i * count + k} `.padEnd(size, '.'),
    ])
    await waitFor(async () => (await say(own, { first: start + i * count, lines })).status === 200)
  }
  const all: LogLine[] = []
  for (let part = await read(person, own.id); part.lines.length; part = await read(person, own.id, part.next))
    all.push(...part.lines)
  const ours = all.filter(({ n }) => n >= start)
  const gap = ours.findIndex(({ source }) => source === 'machine')
  const [before, after] = [ours.slice(0, gap), ours.slice(gap + 1)]
  const bytes = (lines: LogLine[]) => lines.length * (size + 1)
  expect(bytes(before)).toBeGreaterThan(1_000_000 - 2 * size)
  expect(bytes(before)).toBeLessThan(1_000_000 + size)
  expect(bytes(after)).toBeGreaterThanOrEqual(4_000_000)
  expect(bytes(after)).toBeLessThan(4_000_000 + (count + 1) * size)
  expect(after.at(-1)?.n).toBe(start + batches * count - 1)
  for (const { n, text } of [...before, ...after]) expect(text.startsWith(`${n} `)).toBe(true)
  const missing = ours[gap] as LogLine
  expect(missing.n).toBe((before.at(-1)?.n ?? 0) + 1)
  const lost = (after[0]?.n ?? 0) - missing.n
  expect(missing.text).toBe(
    `${lost} lines are missing here (${((lost * (size + 1)) / 1_000_000).toFixed(1)} MB): a log keeps its first 1 MB and its last 4 MB.`,
  )
  // A reader who stops at the gap continues after it.
  expect((await linesOf(person, own.id, missing.n))[0]?.n).toBe(after[0]?.n)
})

test('what the container did is known to the run: when it started, and what it died of', async () => {
  const person = await newPerson(url)
  const own = await startMachine(person)
  const rowOf = async () => (await db.select().from(runs).where(eq(runs.id, own.id)))[0]
  expect((await rowOf())?.containerStartedAt).toBeTypeOf('number')
  const next = await nextOf(own)
  await say(own, { first: next, phase: { name: 'exited', exit_code: 137, oom: true } })
  expect(await rowOf()).toMatchObject({ exitCode: 137, diedOf: null })
  const failed = { name: 'failed', code: 'out_of_memory', exit_code: 137, why: 'ignored' }
  await say(own, { first: next, phase: failed })
  await say(own, { first: next, phase: { ...failed, code: 'exited' } })
  expect(await rowOf()).toMatchObject({ diedOf: 'out_of_memory' })
})
