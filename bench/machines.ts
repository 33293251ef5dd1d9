import { setTimeout as sleep } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { openDatabase } from '../db/client.ts'
import { runs } from '../db/schema/fleet.ts'
import { publicAddress } from '../dev/ec2/addresses.ts'
import { instanceId } from '../testing/instances.ts'
import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { fillDatabase, keepRunning, runId, slotOf, statementsIn } from './fleet.ts'
import { median, quantile } from './median.ts'
import { type BenchSite, startBenchSite } from './site.ts'
import { atMost, type Row, told } from './table.ts'

const QUIET = 100
const PHASE_MS = 20_000
/** A program prints a line this often, and its machine sends what it has each second. */
const PRINT_MS = 3_000
const SEND_MS = 1_000
/** What one run's object takes in a second. */
const FLOOD = { posts: 4, lines: 1_500, characters: 100 }

/**
 * 100 runs that print a line now and then, each followed by its owner, alone and beside one whose program prints as fast
 * as we let it. Each line's time is from when the program prints it to when its reader has it.
 */
export async function benchFlood(): Promise<Row[]> {
  const site = await startBenchSite({
    files: false,
    fill: (dataDir) => keepRunning(dataDir, QUIET + 1),
    talkingMachines: 0,
  })
  try {
    await fillDatabase(site, QUIET + 1)
    const quiet = await Promise.all(Array.from({ length: QUIET }, (_, i) => openRun(site, i)))
    const loud = await openRun(site, QUIET)
    const alone = await printNowAndThen(quiet)
    const ended = new AbortController()
    const flooding = flood(loud, ended.signal)
    const beside = await printNowAndThen(quiet)
    ended.abort()
    const sent = await flooding
    for (const run of [...quiet, loud]) run.close()
    return [
      told(`lines of ${QUIET} quiet runs: median of ${alone.length}`, `${median(alone).toFixed(0)} ms`),
      atMost(`beside a flood: median of ${beside.length}, against alone`, median(beside) / median(alone), 1.5, '×', 2),
      atMost('beside a flood: the slowest line', Math.max(...beside), 2_000, 'ms', 0),
      told('beside a flood: p95', `${quantile(beside, 0.95).toFixed(0)} ms`),
      told('the flood: lines sent, and read in order', `${sent} · ${loud.read()}`),
    ]
  } finally {
    await site.close()
  }
}

const FLEET = 10_000
/** They share a process here, which couldn't play more. Each speaks for itself, so the others only multiply it. */
const PLAYED = 1_000
/** Two rounds: a quiet machine speaks each 30 seconds. */
const REST_MS = 60_000
/** How often it proves itself again. */
const KEY_SECONDS = 15 * 60

/** What machines that have nothing to say ask of the site and its database. Nothing else happens there. */
export async function benchQuietMachines(): Promise<Row[]> {
  const site = await startBenchSite({
    files: false,
    fill: (dataDir) => keepRunning(dataDir, PLAYED),
    talkingMachines: PLAYED,
  })
  const sent = () => site.services.ec2?.machineRequests() ?? 0
  try {
    await fillDatabase(site, PLAYED)
    // Each has its key, and has said that its program started; after that, two minutes of speaking each second.
    while (sent() < 2 * PLAYED) await sleep(1_000)
    await sleep(150_000)
    const [requests, trips] = [sent(), site.database.trips.length]
    await sleep(REST_MS)
    const perSecond = (count: number) => (count * FLEET) / PLAYED / (REST_MS / 1_000)
    const statements = site.database.trips.slice(trips).reduce((sum, { body }) => sum + statementsIn(body), 0)
    return [
      atMost(
        `${FLEET.toLocaleString('en-US')} quiet machines: requests a second, with their keys'`,
        perSecond(sent() - requests) + FLEET / KEY_SECONDS,
        350,
        '',
      ),
      atMost('and database statements a second', perSecond(statements), 1, '', 2),
    ]
  } finally {
    await site.close()
  }
}

type BenchRun = Awaited<ReturnType<typeof openRun>>

/** Its machine has its key, and its owner follows its log. */
async function openRun(site: BenchSite, i: number) {
  const person = await newSignedInPerson(site)
  await openDatabase(site.databaseUrl)
    .update(runs)
    .set({ userId: person.id })
    .where(eq(runs.id, runId(i)))
  const post = (path: string, body: unknown, headers: Record<string, string>) =>
    fetch(site.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const proof = site.services.ec2?.proofOf(instanceId(i))
  const answer = await post('/machines/key', proof, { 'CF-Connecting-IP': publicAddress(slotOf(i)) })
  const { key } = (await answer.json()) as { key: string }
  const log = await fetch(`${site.url}/api/v1/servers/${runId(i)}/log`, {
    headers: { Cookie: person.cookie, Accept: 'text/event-stream' },
  })
  let next = 1
  let read = 0
  const told = new Map<number, () => void>()
  const reader = log.body?.pipeThrough(new TextDecoderStream()).getReader()
  const follow = async () => {
    let rest = ''
    for (;;) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) return
      const events = (rest + chunk.value).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const n = Number(/^id: (\d+)/.exec(event)?.[1] ?? 0)
        if (n === read + 1) read = n
        told.get(n)?.()
        told.delete(n)
      }
    }
  }
  void follow().catch(() => {})
  return {
    /** @returns the number after its last line */
    async send(texts: string[]): Promise<number> {
      const lines = texts.map((text) => ({ at: Date.now(), source: 'stdout', text }))
      const answer = await post(
        '/machines/log',
        { first: next, lines, complete: false },
        { Authorization: `Bearer ${key}` },
      )
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      next = ((await answer.json()) as { next: number }).next
      return next
    },
    /** Called once the reader has line `n`. */
    onLine: (n: number, then: () => void) => void told.set(n, then),
    next: () => next,
    read: () => read,
    close: () => void reader?.cancel().catch(() => {}),
  }
}

/** @returns how many ms each line took */
async function printNowAndThen(quiet: BenchRun[]): Promise<number[]> {
  const took: number[] = []
  const until = performance.now() + PHASE_MS
  await Promise.all(
    quiet.map(async (run, i) => {
      await sleep((i * PRINT_MS) / quiet.length)
      while (performance.now() < until) {
        const printed = performance.now()
        // Its machine sends at its own time.
        await sleep((i * 37) % SEND_MS)
        await new Promise<void>((had, failed) => {
          run.onLine(run.next(), had)
          run.send([`step ${i}`]).catch(failed)
        })
        took.push(performance.now() - printed)
        await sleep(Math.max(0, printed + PRINT_MS - performance.now()))
      }
    }),
  )
  return took
}

/** @returns how many lines it sent */
async function flood(run: BenchRun, signal: AbortSignal): Promise<number> {
  const batch = Array.from({ length: FLOOD.lines }, () => 'x'.repeat(FLOOD.characters))
  while (!signal.aborted) {
    const began = performance.now()
    await run.send(batch)
    await sleep(Math.max(0, began + 1_000 / FLOOD.posts - performance.now()))
  }
  return run.next() - 1
}
