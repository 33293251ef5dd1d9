import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { PASSWORD, serversOf, waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { recordingRclone } from '../../testing/stack/recording-rclone.ts'

const url = inject('url')

/** Someone with an image of their own, and the run command on it. */
async function withImage(image: string) {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  expect((await person.post('/api/v1/environments', { name: 'Own', image })).status).toBe(201)
  const ada = await newOperator(url, 'operate', person)
  const words = (more: string[]) => ['run', '--environment', 'Own', ...more]
  const own = (...more: string[]) => ada.run(words(more))
  const begin = (...more: string[]) => ada.start(words(more))
  const stop = async () => {
    const [server] = await serversOf(person)
    const body = { server_id: server?.server_id, session_id: server?.id }
    expect((await person.post('/api/v1/aws/stop_server', body)).status).toBe(202)
  }
  return { ...ada, own, begin, stop }
}

// Each spends its time waiting for its own server.

test.concurrent('exits as its program does, and prints what it prints', async () => {
  const { own, person } = await withImage('example.com/exits:3')
  const secret = { value: 'canary-of-a-token', current_password: PASSWORD }
  expect((await person.request('PUT', '/secrets/TOKEN', secret)).status).toBe(200)
  const told = ['--set', 'SEED=42', '--secret', 'TOKEN']
  const { code, out, err } = await own(...told, '--name', 'fog', '--', 'pytest', '-q', '--no-header')
  expect([code, out]).toEqual([3, 'hello\nSEED=42\nTOKEN=***\npytest\n-q\n--no-header\n'])
  expect(err).toMatch(/^Started ses_[\w-]+ on a g6\S+: http:\S+\/servers\/ses_[\w-]+\n/)
  expect(err).toMatch(/\n# Started the program\n# The program exited with code 3\n/)
  expect(err).toMatch(/The program ended\. It ran \ds\.\n$/)
  const [server] = await serversOf(person)
  expect(server).toMatchObject({
    name: 'fog',
    ended_because: 'exited',
    exit_code: 3,
    command: ['pytest', '-q', '--no-header'],
  })
})

test.concurrent('counts the whole seconds of the clock, as the bill does', async () => {
  const { own, person } = await withImage('example.com/lasts:4')
  const { err } = await own()
  const [server] = await serversOf(person)
  const second = (at: string | null | undefined) => Date.parse(at ?? '') / 1000
  const seconds = Math.floor(second(server?.end_time)) - Math.ceil(second(server?.billed_from))
  expect(err).toContain(`It ran ${Math.max(0, seconds)}s.`)
})

test.concurrent('with JSON, only the result is on stdout', async () => {
  const { own } = await withImage('example.com/exits:0')
  const { code, out, err } = await own('--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ server: { until: 'exit' }, exit_code: 0, ended_because: 'exited' })
  expect(err).toContain('\nhello\n')
})

test.concurrent('says apart who ended it: somebody, or its time', async () => {
  const { begin, own, person, stop } = await withImage('example.com/floods:1')
  const stopped = begin('--json')
  await stopped.shows('line 1000\n')
  expect(await own('--wait', '1s')).toMatchObject({
    code: 125,
    err: expect.stringMatching(/already running.*We waited 1s\.\n$/s),
  })
  // A second one waits for the first.
  const timed = begin()
  await timed.shows(/already running.* Waiting…\n/)
  await stop()
  expect(await stopped.ended).toMatchObject({ code: 143, err: expect.stringContaining('The server was stopped.') })
  await timed.shows('line 1000\n')
  const [server] = await serversOf(person)
  // A call that takes longer than this names a time that is over by then.
  const endSoon = () => {
    const ends_at = new Date(Date.now() + 500).toISOString()
    return person.request('PUT', `/api/v1/servers/${server?.id}`, { ends_at })
  }
  await waitFor(async () => (await endSoon()).status === 200)
  expect(await timed.ended).toMatchObject({ code: 124, err: expect.stringContaining('Time ran out before') })
})

test.concurrent('Ctrl-C stops the server', async () => {
  const { open, person } = await withImage('example.com/floods:1')
  const command = open(['run', '--environment', 'Own'])
  await command.shows('line 1000\n')
  command.child.kill('SIGINT')
  expect(await command.ended).toMatchObject({ code: 130, err: expect.stringContaining('Stopping the server.') })
  expect((await serversOf(person))[0]).toMatchObject({ ended_because: 'you' })
})

test.concurrent('a limit of the site neither outlasts --wait nor holds up Ctrl-C', async () => {
  const { run, start, person } = await withImage('example.com/floods:1')
  let isStopped = false
  let isLimited = true
  const limits = (path: string) =>
    (path.endsWith('_start_request') && isLimited) || (path.includes('/log?') && !isStopped) ? 600 : null
  const onRequest = (path: string) => {
    isStopped ||= path.endsWith('/stop_server')
  }
  const line = await openLine(url, { limits, onRequest })
  const env = { PROVING_GROUND_URL: line.url }
  const words = ['run', '--environment', 'Own']
  expect(await run([...words, '--wait', '9m'], '', env)).toMatchObject({
    code: 125,
    err: 'error: That was too early.\n',
  })
  const early = start(words, env)
  await early.shows('Trying again in 10m 0s…')
  early.interrupt()
  expect((await early.ended).code).toBe(130)
  isLimited = false
  const reading = start(words, env)
  await reading.shows('Trying again in 10m 0s…')
  reading.interrupt()
  expect(await reading.ended).toMatchObject({ code: 130, err: expect.stringContaining('Stopping the server.') })
  expect(await serversOf(person)).toMatchObject([{ ended_because: 'you' }])
  line.close()
})

test.concurrent('Ctrl-C before the start leaves no server', async () => {
  const { start, person } = await withImage('example.com/floods:1')
  const asked = Promise.withResolvers<void>()
  const pressed = Promise.withResolvers<void>()
  const onRequest = (path: string) => {
    if (!path.includes('/server_available')) return
    asked.resolve()
    return pressed.promise
  }
  const line = await openLine(url, { onRequest })
  const early = start(['run', '--environment', 'Own'], { PROVING_GROUND_URL: line.url })
  await asked.promise
  early.interrupt()
  pressed.resolve()
  const { code, err } = await early.ended
  expect([code, err]).toEqual([130, 'Interrupted.\n'])
  expect(await serversOf(person)).toEqual([])
  line.close()
})

test.concurrent('what is not its program exits with 125', async () => {
  const { own, run } = await withImage('registry.invalid/ada/harbor:1')
  expect(await run(['run'])).toMatchObject({ code: 125, err: expect.stringContaining('--environment') })
  expect(await run(['run', '--environment', 'Own', '--nope'])).toMatchObject({ code: 125 })
  expect(await run(['run', '--environment', 'Nowhere'])).toMatchObject({
    code: 125,
    err: expect.stringMatching(/Nowhere/),
  })
  expect(await run(['run', '--environment', 'Mountains'])).toMatchObject({
    code: 125,
    err: expect.stringContaining('runs until you stop it'),
  })
  expect(await own('--', ...Array(65).fill('a'))).toMatchObject({ code: 125 })
  expect(await own('--keep', '../x')).toMatchObject({ code: 125 })
  // A variable that isn't set.
  expect(await own('--keep', '')).toMatchObject({ code: 125, err: expect.stringContaining('--keep out') })
  expect(await own('--keep', 'out', '--json')).toMatchObject({ code: 125 })
  expect(await own()).toMatchObject({ code: 125, err: expect.stringContaining("couldn't pull registry.invalid/ada") })
})

test.concurrent('writes down for the action only a start that may have a server', async () => {
  const { run } = await withImage('example.com/exits:0')
  const file = join(temporaryFolder('start'), 'start.json')
  const start = (line: { url: string }, ...more: string[]) =>
    run(['run', '--environment', ...more], '', { PROVING_GROUND_URL: line.url, PROVING_GROUND_START_FILE: file })
  let wasWritten = false
  const onRequest = (path: string) => {
    if (path.endsWith('_start_request')) wasWritten = existsSync(file)
  }
  const line = await openLine(url, { onRequest })
  expect((await start(line, 'Nowhere')).code).toBe(125)
  expect([wasWritten, existsSync(file)]).toEqual([true, false])
  line.close()
  const limited = await openLine(url, { limits: (path) => (path.endsWith('_start_request') ? 600 : null) })
  expect((await start(limited, 'Own', '--wait', '1s')).code).toBe(125)
  expect(existsSync(file)).toBe(true)
  limited.close()
})

test.concurrent('keeps what the program left, also if it failed', async () => {
  const { run } = await withImage('example.com/exits:4')
  const words = ['run', '--environment', 'Own', '--keep']
  const rclone = recordingRclone()
  const PATH = rclone.PATH
  const kept = await run([...words, 'out'], '', { PATH })
  expect(kept).toMatchObject({ code: 4, err: expect.stringContaining('Kept 3 files in ./out.') })
  const { args } = rclone.recorded()
  expect(args.slice(0, 3)).toEqual(['copy', expect.stringMatching(/\/files\/out\/$/), expect.stringMatching(/\/out$/)])
  const none = await run([...words, 'nothing'], '', { PATH })
  expect(none).toMatchObject({ code: 4, err: expect.stringContaining('left nothing in /data/nothing.') })
})

test.concurrent('starts nothing where its server would have nothing to keep', async () => {
  const { run, person } = await withImage('example.com/exits:0')
  const rewrite = (_: string, text: string) => text.replace('"on_servers":"all"', '"on_servers":"none"')
  const line = await openLine(url, { rewrite })
  const env = { PATH: recordingRclone().PATH, PROVING_GROUND_URL: line.url }
  const words = ['run', '--environment', 'Own', '--keep', 'out']
  expect(await run(words, '', env)).toMatchObject({ code: 125, err: expect.stringContaining('have no /data') })
  expect(await serversOf(person)).toEqual([])
  line.close()
})

test.concurrent('a program that passed, and whose results are lost, did not pass', async () => {
  const { run } = await withImage('example.com/exits:0')
  const { PATH } = recordingRclone({ ends: 'process.exit(1)' })
  const lost = await run(['run', '--environment', 'Own', '--keep', 'out'], '', { PATH })
  expect(lost).toMatchObject({ code: 125, err: expect.stringContaining("proving-ground files get 'out'") })
})

test.concurrent('waits for the server before it', async () => {
  const { own, person, stop } = await withImage('example.com/exits:0')
  await person.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Mountains' })
  const next = own()
  await waitFor(async () => (await serversOf(person)).some(({ active }) => active))
  await stop()
  expect(await next).toMatchObject({ code: 0, out: 'hello\n' })
})
