import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineGroupPeople, lineGroups } from '../../db/schema/line.ts'
import { type Stack, startStack } from '../../dev/stack.ts'
import { newApiToken } from '../../src/domain/api-token.ts'
import { ALL_RESERVED } from '../../src/domain/server-list.ts'
import { isWaiting, newPerson, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'
import { newComputer, newOperator } from '../../testing/people/command-line.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'
import { serve } from '../../testing/stack/serve.ts'

let stack: Stack
beforeAll(async () => {
  const dataDir = temporaryFolder('line')
  stack = await startStack({ dataDir, fleetSize: 1, ec2BootMs: 300, log: () => {}, ...quickHasher })
})
afterAll(() => stack?.close())

test('start --wait-in-line waits, line shows the place and gives it up, and the next server starts by itself', async () => {
  const owner = await newPerson(stack.url)
  expect((await owner.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  const [ada, ben] = [await newOperator(stack.url), await newOperator(stack.url)]
  expect(await ada.run(['line'])).toMatchObject({ code: 0, out: "You're not in line.\n" })
  const refused = `error: ${ALL_RESERVED} Wait in line for one with: proving-ground start --wait-in-line\n`
  for (const start of [['start'], ['start', '--wait']])
    expect(await ada.run(start)).toEqual({ code: 4, out: '', err: refused })
  const adas = ada.start(['start', '--wait-in-line'])
  await adas.shows("You're number 1 in line: we don't know yet how long it takes.")
  const bens = ben.start(['start', '--wait-in-line'])
  await bens.shows("You're number 2 in line")
  expect((await ben.run(['line'])).out).toMatch(/^You're number 2 in line/)
  expect(JSON.parse((await ada.run(['line', '--json'])).out)).toMatchObject({
    line: { position: 1, held_until: null, starts_by_itself: true },
  })

  bens.interrupt()
  expect(await bens.ended).toMatchObject({ code: 130, err: expect.stringContaining('You keep your place in line') })
  expect(await isWaiting(ben.person)).toBe(true)
  expect(await ben.run(['line', 'leave'])).toMatchObject({ code: 0, out: 'You left the line.\n' })
  expect(await isWaiting(ben.person)).toBe(false)

  await stopServer(owner)
  expect(await adas.ended).toMatchObject({ code: 0, out: expect.stringMatching(/^Starting Blocks, UAV on a g6/) })
  expect(await serversOf(ada.person)).toMatchObject([{ end_time: null }])
  await stopServer(ada.person)
})

/** A computer whose site gives these answers, one after the other, and what it asks for. */
async function computerOf(...answers: [status: number, json: object][]) {
  const asked: string[] = []
  const url = await serve((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    const [status, answer] = answers.shift() ?? [500, {}]
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return { asked, ...newComputer({ PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: newApiToken(randomInt) }) }
}

test('start names no line where the site has none', async () => {
  const { run } = await computerOf(
    [404, { error: 'An older site.' }],
    [503, { code: 'no_capacity', error: 'Reworded.' }],
    [404, { error: 'Unknown endpoint.' }],
  )
  expect(await run(['start'])).toEqual({ code: 4, out: '', err: 'error: Reworded.\n' })
})

test('start --wait-in-line starts a server that frees before it joins', async () => {
  const server = { id: 'srv', instance_type: 'g6.4xlarge', environment: null, vehicle: null, ends_at: null }
  const { asked, run } = await computerOf(
    [200, { ServerAvailable: false, candidates: [] }],
    [503, { code: 'no_capacity', error: 'Reworded.' }],
    [409, { code: 'conflict', error: 'Reworded as well.' }],
    [202, { server, job_id: 'job', message: '' }],
  )
  expect(await run(['start', '--wait-in-line'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^Starting a server on a g6\.4xlarge\. We don't know yet how long it takes to start\. Follow/,
    ),
  })
  const start = 'POST /api/v1/aws/auto_cloud_start_request'
  expect(asked).toEqual(['GET /api/v1/aws/server_available', start, 'POST /api/v1/line', start])
})

test('start --code takes the place that is held back for its group, once; later starts need no code', async () => {
  const ada = await newOperator(stack.url)
  // The place of the test before may not be free yet.
  await waitFor(
    async () =>
      (await ada.person.get<{ ServerAvailable: boolean }>('/api/v1/aws/server_available')).body.ServerAvailable,
  )
  const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
  const now = Date.now()
  const times = { startsAt: now - 60_000, endsAt: now + 3_600_000, madeAt: now }
  await db.insert(lineGroups).values({ id: 'grp_cli', name: 'Class', gpus: 1, places: 1, code: 'BCDF-GHJK', ...times })
  expect(await ada.run(['start'])).toMatchObject({ code: 4, err: expect.stringContaining('All servers are reserved') })
  expect(await ada.run(['start', '--code', 'BCDF-GHJL'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('This code is wrong or has expired.'),
  })
  expect(await serversOf(ada.person)).toEqual([])
  expect(await ada.run(['start', '--code', 'bcdf ghjk'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Starting Blocks, UAV/),
  })
  await stopServer(ada.person)
  await waitFor(async () => (await ada.run(['start'])).code === 0)
  await stopServer(ada.person)
  await db.delete(lineGroupPeople)
  await db.delete(lineGroups)
})
