import { afterAll, expect, test } from 'vitest'
import { startStack } from '../../dev/stack.ts'
import { serversOf, stopServer } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { hasTerminals } from '../../testing/stack/terminal.ts'

/** Machines here boot for an hour, so a start doesn't change while the test looks at it. */
const FLEET = 8
const dataDir = temporaryFolder('proving-ground-slow')
const stack = await startStack({ dataDir, ec2BootMs: 3_600_000, fleetSize: FLEET, log: () => {} })
afterAll(async () => {
  await stack.close()
})

const { url } = stack
const dev = (path: string, body: unknown) =>
  fetch(`${url}/dev/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

// These watch starts that don't change. The tests below change the fleet for everyone.
test.concurrent('Ctrl-C without a terminal leaves the server on, and says how to stop it', async () => {
  const ada = await newOperator(url)
  const start = ada.open(['start', '--wait'])
  await start.shows('Booting…')
  start.child.kill('SIGINT')
  const { code, out, err } = await start.ended
  expect([code, out]).toEqual([130, ''])
  expect(err).toContain('Your server keeps running. Stop it with: proving-ground stop')
  expect(await serversOf(ada.person)).toMatchObject([{ pending: true, stopping: false }])
})

test.runIf(hasTerminals).concurrent.each([
  ['y\r', true],
  ['\r', false],
  ['\x03', false],
])('on a terminal, Ctrl-C asks whether to stop: %j', async (answer, stops) => {
  const ada = await newOperator(url)
  const start = ada.openOnTerminal(['start', '--wait'])
  await start.shows('Booting…')
  start.type('\x03')
  await start.shows('Stop the server? [y/N]')
  start.type(answer)
  const { code, out } = await start.ended
  expect([code, out]).toEqual([
    130,
    expect.stringContaining(stops ? 'Stopping the server.' : 'Your server keeps running.'),
  ])
  expect((await serversOf(ada.person))[0]?.end_time !== null).toBe(stops)
})

test.concurrent('a start that someone stops elsewhere ends the wait', async () => {
  const ada = await newOperator(url)
  const start = ada.open(['start', '--wait'])
  await start.shows('Booting…')
  await stopServer(ada.person)
  expect(await start.ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cancelled') })
})

test('a server that does not come up in time exits with 5', async () => {
  const ada = await newOperator(url)
  const start = ada.open(['start', '--wait'])
  await start.shows('Booting…')
  await dev('clock', { advance_seconds: 601 })
  await dev('cron', { cron: '* * * * *' })
  expect(await start.ended).toMatchObject({ code: 5, out: '', err: expect.stringContaining('error: ') })
})

test('a start for which EC2 has no room exits with 4', async () => {
  const ada = await newOperator(url)
  await dev('faults', { target: 'ec2', fault: 'InsufficientInstanceCapacity', times: FLEET })
  const start = await ada.run(['start', '--wait'])
  expect(start).toMatchObject({ code: 4, out: '', err: expect.stringContaining('No GPU servers available right now.') })
})
