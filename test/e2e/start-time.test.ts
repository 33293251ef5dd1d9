import { isNotNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { jobs, places, runs } from '../../db/schema/fleet.ts'
import { warmMachines, warmSettings } from '../../db/schema/warm.ts'
import { HOUR_MS } from '../../src/domain/instant.ts'
import type { LogPart } from '../../src/domain/run-log.ts'
import { WEEK_HOURS } from '../../src/domain/warm-hours.ts'
import type { Availability } from '../../src/domain/wire/fleet.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { advance, complaintsOf, pageOf, stackAndBrowser, stopServer } from '../../testing/browser/e2e.ts'
import { serversOf, waitFor } from '../../testing/people/client.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'

const world = stackAndBrowser()

const PULL_S = 90
/** What 20 earlier starts took. */
const P50 = 100
const P90 = 130

/** What that kind of start took, 20 times: 12 as long as half of them, the others longer. */
type Past = { environment: string; took: [p50: number, p90: number]; toldWarm?: boolean }
const OWN: Past = { environment: 'Own', took: [P50, P90] }

async function withPastStarts(...kinds: Past[]) {
  const person = await newPremiumPerson(world.url, databaseUrl())
  const own = { name: 'Own', image: `example.com/slow:${PULL_S}` }
  expect((await person.post('/api/v1/environments', own)).status).toBe(201)
  const db = openTestDatabase(databaseUrl())
  const machine = await firstFree(person)
  const [place] = await db.select().from(places).limit(1)
  const now = Date.now()
  // Earlier than the starts that the limits count.
  const before = now - 2 * HOUR_MS
  for (const { environment, took, toldWarm = false } of kinds)
    for (let i = 0; i < 20; i++) {
      const id = newId('ses')
      const times = {
        requestedAt: before - took[i < 12 ? 0 : 1] * 1000 - i,
        billedFrom: before - i,
        stopRequestedAt: before,
        endedAt: before,
      }
      const ofWhom = { userId: person.id, instanceType: machine?.instance_type ?? '', placeId: place?.id ?? '' }
      await db
        .insert(runs)
        .values({ id, ...ofWhom, environment, toldWarm, ...times, meteredUntil: before, endedBecause: 'you' })
      const ended = { kind: 'server_start' as const, status: 'succeeded' as const, createdAt: now, updatedAt: now }
      await db.insert(jobs).values({ id: newId('job'), userId: person.id, runId: id, ...ended })
    }
  await advance(world.url, 60)
  return person
}

const firstFree = async (person: Awaited<ReturnType<typeof newPremiumPerson>>) =>
  (await person.get<Availability>('/api/v1/aws/server_available')).body.candidates.find(({ available }) => available)

const databaseUrl = () => world.stack.services.vars.LIBSQL_URL ?? ''

test('an estimate stands beside Start and in the progress, the percentage moves, and the estimate holds', async () => {
  const person = await withPastStarts(OWN)
  const page = await pageOf(world.browser, world.url, person)
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/dashboard`)
  const hint = page.locator('#start-hint')
  expect(await hint.textContent()).toContain('Usually ready in 1m 40s, 9 in 10 times within 2m 10s.')
  // The first answer is the server's; from then on, it follows the choice.
  await page.getByRole('radio', { name: 'Blocks' }).check()
  await hint.getByText("We don't know yet how long it takes to start.").waitFor()
  await page.getByRole('radio', { name: 'Own' }).check()
  await hint.getByText('Usually ready in 1m 40s').waitFor()
  expect(await axeFaults(page)).toEqual([])

  await page.getByRole('button', { name: 'Start Server' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await messages.getByText('Starting server! This may take up to 30 seconds...').waitFor()
  await messages.getByText(/^\d+s, usually 1m 40s$/).waitFor()
  const percent = async () => Number(/(\d+)%/.exec((await messages.textContent()) ?? '')?.[1] ?? Number.NaN)
  await expect.poll(percent).toBeGreaterThan(0)
  const first = await percent()
  await advance(world.url, 30)
  await expect.poll(percent).toBeGreaterThan(first + 25)
  await messages.getByText('Still starting. Nothing is billed.').waitFor()
  await advance(world.url, 60)
  await messages.getByText('Your server is running.').waitFor()
  const [server] = await serversOf(person)
  const secondsUntil = (time = '') => (Date.parse(time) - Date.parse(server?.requested_at ?? '')) / 1000
  expect(secondsUntil(server?.billed_from ?? undefined)).toBeLessThan(P90)
  // A look that began before the clock jumped may get the first answer after it, so the start alone may seem shorter.
  const { lines } = (await person.get<LogPart>(`/api/v1/servers/${server?.id}/log`)).body
  expect(secondsUntil(lines.find(({ text }) => text.startsWith('Pulled '))?.at)).toBeGreaterThan(PULL_S)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('without scripts, the estimate is there as well', async () => {
  const person = await withPastStarts(OWN)
  const page = await pageOf(world.browser, world.url, person, { javaScriptEnabled: false })
  await page.goto(`${world.url}/dashboard`)
  expect(await page.locator('#start-hint').textContent()).toContain('Usually ready in 1m 40s')
  await page.context().close()
})

test('a warm start shows what warm starts take, before the click and while it starts', async () => {
  const cold: Past = { environment: 'Blocks', took: [P50, P90] }
  const person = await withPastStarts(cold, { environment: 'Blocks', took: [6, 9], toldWarm: true })
  const page = await pageOf(world.browser, world.url, person)
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/dashboard`)
  const hint = page.locator('#start-hint')
  await page.getByRole('radio', { name: 'Blocks' }).check()
  await hint.getByText('Usually ready in 1m 40s').waitFor()

  const db = openTestDatabase(databaseUrl())
  const { instance_type: instanceType = '', availability_zone: availabilityZone = '' } = (await firstFree(person)) ?? {}
  const hours = Array<number>(WEEK_HOURS).fill(1)
  await db.insert(warmSettings).values({ instanceType, availabilityZone, hours, timeZone: 'UTC' })
  await waitFor(async () => {
    await advance(world.url, 1)
    return (await db.select().from(warmMachines).where(isNotNull(warmMachines.readyAt))).length > 0
  })
  await page.getByRole('button', { name: 'Refresh' }).click()
  await hint.getByText('Usually ready in 6s, 9 in 10 times within 9s.').waitFor()

  await db.delete(warmSettings)
  await page.getByRole('button', { name: 'Start Server' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await messages.getByText(/^\d+s, usually 6s$/).waitFor()
  await messages.getByText('Your server is running.').waitFor()
  expect((await serversOf(person))[0]).toMatchObject({ warm: true, environment: 'Blocks' })
  expect(await db.$count(warmMachines)).toBe(0)

  // It was the only one: the next start is a cold one, and the page knows.
  await stopServer(page, page.getByRole('region', { name: 'Server running' }))
  await hint.getByText('Usually ready in 1m 40s').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
