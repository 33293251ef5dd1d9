import { expect, inject, test } from 'vitest'
import { serversOf, waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'

const url = inject('url')
const ADDRESS = /http:\/\/127\.\d+\.\d+\.\d+:5173/

// Each spends its time waiting for its own server.

test.concurrent('starts, follows the job to the address, opens the page, and stops', async () => {
  const ada = await newOperator(url)
  const started = await ada.run(['start', '--wait'])
  expect(started).toMatchObject({ code: 0, out: expect.stringMatching(/^Your server is running: http:\S+:5173\n$/) })
  // Each step once, one per line, with no terminal codes.
  expect(started.err).toMatch(/^Starting server…\n(.*…\n)*Waiting for the simulator to answer…\n$/)
  expect(new Set(started.err.split('\n')).size).toBe(started.err.split('\n').length)
  const [address = ''] = ADDRESS.exec(started.out) ?? []
  expect((await fetch(address)).status).toBe(200)

  const status = await ada.run(['status'])
  expect(status.out).toMatch(
    /^running \d+s {2}Blocks, UAV {2}g6\.4xlarge {2}us-east-1[a-z] {2}free trial {2}http:\S+:5173 {2}stops in (30\.00|29\.\d\d|2\d\.\d\d) minutes\n$/,
  )
  expect(JSON.parse((await ada.run(['status', '--json'])).out).servers).toMatchObject([{ active: true }])
  expect(await ada.run(['open'])).toEqual({ code: 0, out: `${address}\n`, err: '' })
  expect(await ada.untilOpened()).toBe(address)
  expect(await ada.run(['start'])).toMatchObject({ code: 1, err: expect.stringContaining('already running') })

  expect(await ada.run(['stop'])).toMatchObject({ code: 0, out: expect.stringContaining('Stopping the server.') })
  await waitFor(async () => !(await serversOf(ada.person)).some(({ active }) => active))
  expect(await ada.run(['status'])).toMatchObject({ code: 0, out: 'No server is running.\n' })
  expect(await ada.run(['open'])).toMatchObject({ code: 1, err: expect.stringContaining('No server is running.') })
  expect(await ada.run(['stop'])).toMatchObject({ code: 1, err: expect.stringContaining('No server is running.') })
  expect(await ada.run(['stop', '--all'])).toMatchObject({ code: 0, out: 'No server is running.\n' })
})

test.concurrent('speaks JSON to scripts: one document on stdout', async () => {
  const ada = await newOperator(url)
  const world = ['--environment', 'mountains', '--vehicle', 'ugv']
  const wishes = ['--stop-after', '1h30m', '--name', 'Night flight', '--max-gpus', '1', ...world]
  const parameters = ['--set', 'SCENARIO=harbor fog', '--set', 'EXPR=a=b']
  expect(await ada.run(['start', '--vehicle', 'multi'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('Multi-vehicle needs Premium.'),
  })
  expect(await ada.run(['start', '--vehicle', 'boat'])).toMatchObject({ code: 2 })
  expect(await ada.run(['start', '--max-gpus', '65'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('The number of GPUs must be'),
  })
  const secrets = ['--secret', 'TOKEN', '--secret', 'KEY']
  expect(await ada.run(['start', ...world, ...secrets])).toMatchObject({
    code: 1,
    err: expect.stringContaining("Only your own images get secrets, so this start can't have TOKEN."),
  })
  const waited = JSON.parse((await ada.run(['start', '--wait', '--json', ...wishes, ...parameters])).out)
  expect(waited.server).toMatchObject({ name: 'Night flight', environment: 'Mountains', vehicle: 'ugv' })
  expect(waited.server.parameters).toEqual({ SCENARIO: 'harbor fog', EXPR: 'a=b' })
  expect(Date.parse(waited.server.ends_at) - Date.parse(waited.server.requested_at)).toBe(5_400_000)
  // Its trial is over before the end that it set.
  expect((await ada.run(['status'])).out).toMatch(
    /^Night flight {2}running .* {2}stops in (30\.00|29\.\d\d|2\d\.\d\d) minutes\n$/,
  )
  const sooner = new Date(Date.parse(waited.server.requested_at) + 10 * 60_000).toISOString()
  expect((await ada.run(['end', sooner])).code).toBe(0)
  expect((await ada.run(['status'])).out).toMatch(/ stops in (10m 0|\dm \d+)s\n$/)
  expect(waited).toMatchObject({ server: { active: true, pending: false }, job_id: expect.stringMatching(/^job_/) })
  const stopped = JSON.parse((await ada.run(['stop', '--all', '--json'])).out)
  expect(stopped).toMatchObject({ stopped: [{ server: { id: waited.server.id, stopping: true } }] })
  await waitFor(async () => !(await serversOf(ada.person)).some(({ active }) => active))
  const started = JSON.parse((await ada.run(['start', '--json'])).out)
  expect(started).toMatchObject({ server: { pending: true }, job_id: expect.stringMatching(/^job_/) })
})

test.concurrent('a token that may only read starts nothing', async () => {
  const ada = await newOperator(url, 'read')
  for (const args of [['start'], ['start', '--wait']])
    expect(await ada.run(args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('may only read') })
  expect(await serversOf(ada.person)).toEqual([])
})

test.concurrent('Ctrl-C before the start is answered still reports the server', async () => {
  const ada = await newOperator(url)
  const line = await openLine(url, { onRequest: (path) => path.endsWith('auto_cloud_start_request') && interrupt() })
  const start = ada.open(['start', '--wait', '--base-url', line.url])
  const interrupt = () => void start.child.kill('SIGINT')
  const { code, err } = await start.ended
  line.close()
  expect([code, err]).toEqual([130, expect.stringContaining('Your server keeps running.')])
  expect(await serversOf(ada.person)).toHaveLength(1)
})

test.concurrent('a start whose answer is lost is repeated, and starts one server', async () => {
  const ada = await newOperator(url)
  let lost = 0
  const line = await openLine(url, { loses: (path) => path.endsWith('auto_cloud_start_request') && lost++ === 0 })
  const started = await ada.run(['start', '--json', '--base-url', line.url])
  line.close()
  expect(started.code).toBe(0)
  expect(lost).toBe(2)
  expect(await serversOf(ada.person)).toMatchObject([{ id: JSON.parse(started.out).server.id }])
})

test.concurrent('follows a start where WebSockets are blocked', async () => {
  const ada = await newOperator(url)
  const line = await openLine(url, {})
  const started = await ada.run(['start', '--wait', '--base-url', line.url])
  line.close()
  expect(started).toMatchObject({ code: 0, out: expect.stringMatching(ADDRESS) })
})

test.concurrent('follows the cable when every poll is lost', async () => {
  const ada = await newOperator(url)
  const line = await openLine(url, { cable: true, loses: (path) => path.endsWith('get_servers') })
  // Nothing of it keeps the process alive.
  const started = await ada.open(['start', '--wait', '--base-url', line.url]).ended
  line.close()
  expect(started).toMatchObject({ code: 0, out: expect.stringMatching(ADDRESS) })
})

test.concurrent('status --watch reports what happens, and Ctrl-C ends it', async () => {
  const ada = await newOperator(url)
  const watch = ada.start(['status', '--watch'])
  const json = ada.start(['status', '--watch', '--json'])
  await watch.shows('No server is running.')
  await json.shows('"server":null')
  await ada.run(['start'])
  await watch.shows(ADDRESS)
  // A watch that begins later reports no old news.
  const late = ada.start(['status', '--watch'])
  await late.shows(ADDRESS)
  await json.shows('"active":true')
  await ada.run(['stop'])
  await watch.shows(/No server is running\.[\s\S]*No server is running\./)
  await json.shows(/"active":true[\s\S]*"server":null/)
  await late.shows('No server is running.')
  expect(late.seen.out).not.toContain('Your server is running')
  expect(watch.seen.out).toContain('Server stopped')
  for (const command of [watch, json, late]) {
    command.interrupt()
    expect(await command.ended).toMatchObject({ code: 130, err: '' })
  }
  for (const line of json.seen.out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('server')
})
