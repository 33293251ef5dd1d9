import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stack, startStack } from '../../dev/stack.ts'
import { isWaiting, newPerson, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { runWorkflow } from '../../testing/stack/actions-runner.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'

const smoke = readFileSync('.github/workflows/smoke.yml', 'utf8')
const waiting = smoke
  .replace('stop-after: 15m', '$&\n          wait-in-line: true')
  .replace(/run: curl.*/, 'run: "echo flown"')

let stack: Stack
beforeAll(async () => {
  const dataDir = temporaryFolder('action-line')
  stack = await startStack({ dataDir, fleetSize: 1, ec2BootMs: 300, log: () => {}, ...quickHasher })
})
afterAll(() => stack?.close())

/** Someone has the only server, and a job of Ada's begins. */
async function meet(workflow: string, interrupt?: Promise<'SIGINT' | 'SIGKILL'>) {
  const owner = await newPerson(stack.url)
  // The place of the test before may not be free yet.
  await waitFor(async () => (await owner.post('/api/v1/aws/auto_cloud_start_request')).status === 202)
  const ada = await newOperator(stack.url)
  const secrets = { PROVING_GROUND_TOKEN: ada.token }
  const job = runWorkflow({
    workflow,
    folder: process.cwd(),
    secrets,
    inputs: { url: stack.url },
    ...(interrupt && { interrupt }),
  })
  return { ada: ada.person, job, stop: () => stopServer(owner) }
}

test('waits in line, uses the server that the site then starts, and stops it', async () => {
  const { ada, job, stop } = await meet(waiting)
  await waitFor(() => isWaiting(ada))
  await stop()
  const { ok, log } = await job
  expect([ok, log]).toEqual([
    true,
    expect.stringMatching(/Waiting in line…[\s\S]*is running[\s\S]*flown[\s\S]*Stopping the server/),
  ])
  expect(await serversOf(ada)).toMatchObject([{ name: 'Smoke 42', end_time: expect.any(String) }])
})

test.each(['', 'Nigh\u0301t'])('finds the server that it waited for by its name, also by %j', async (name) => {
  const { ada, job, stop } = await meet(waiting.replace(/name: Smoke .*/, `name: ${JSON.stringify(name)}`))
  await waitFor(() => isWaiting(ada))
  await stop()
  expect(await job).toMatchObject({ ok: true, log: expect.stringMatching(/flown[\s\S]*Stopping the server/) })
  expect(await serversOf(ada)).toMatchObject([{ end_time: expect.any(String) }])
})

test('starts the server that becomes free just before it waits', async () => {
  const owner = await newPerson(stack.url)
  await waitFor(async () => (await owner.post('/api/v1/aws/auto_cloud_start_request')).status === 202)
  const ada = await newOperator(stack.url)
  let lined = 0
  const line = await openLine(stack.url, {
    async onRequest(path) {
      if (path !== '/api/v1/line' || ++lined > 1) return
      await stopServer(owner)
      await waitFor(async () => (await owner.get('/api/v1/aws/server_available')).body.ServerAvailable)
    },
  })
  const secrets = { PROVING_GROUND_TOKEN: ada.token }
  const job = runWorkflow({ workflow: waiting, folder: process.cwd(), secrets, inputs: { url: line.url } })
  expect(await job).toMatchObject({
    ok: true,
    log: expect.stringMatching(/is running[\s\S]*flown[\s\S]*Stopping the server/),
  })
  line.close()
})

test('leaves the line when someone cancels the job', async () => {
  const cancel = Promise.withResolvers<'SIGINT'>()
  const { ada, job, stop } = await meet(waiting, cancel.promise)
  await waitFor(() => isWaiting(ada))
  cancel.resolve('SIGINT')
  const { ok, log } = await job
  expect([ok, log]).toEqual([false, expect.stringMatching(/The job was canceled[\s\S]*No server started/)])
  expect([await isWaiting(ada), await serversOf(ada)]).toEqual([false, []])
  await stop()
})

test('stops the server that the line starts after the runner was killed', async () => {
  const kill = Promise.withResolvers<'SIGKILL'>()
  const { ada, job, stop } = await meet(waiting, kill.promise)
  await waitFor(() => isWaiting(ada))
  await stop()
  await waitFor(async () => (await serversOf(ada)).length > 0)
  kill.resolve('SIGKILL')
  expect(await job).toMatchObject({ ok: false, log: expect.stringContaining('Stopping the server.') })
  expect(await serversOf(ada)).toMatchObject([{ end_time: expect.any(String) }])
})

test('waits until the server of the job before has gone', async () => {
  const ada = await newOperator(stack.url)
  await waitFor(async () => (await ada.run(['start', '--wait'])).code === 0)
  const ec2 = stack.services.ec2
  ec2?.hold(true)
  await ada.run(['stop'])
  const refused = await ada.run(['start'])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Your last server is still stopping.')])
  // Gone right after the first refusal.
  let starts = 0
  const onRequest = (path: string) => {
    if (path.endsWith('auto_cloud_start_request') && ++starts === 2) ec2?.hold(false)
  }
  const line = await openLine(stack.url, { onRequest })
  const secrets = { PROVING_GROUND_TOKEN: ada.token }
  const { ok, log } = await runWorkflow({
    workflow: smoke.replace(/run: curl.*/, 'run: "echo flown"'),
    folder: process.cwd(),
    secrets,
    inputs: { url: line.url },
  })
  line.close()
  expect([ok, log]).toEqual([true, expect.stringMatching(/still stopping[\s\S]*is running[\s\S]*flown/)])
})

test('fails without wait-in-line', async () => {
  const { ada, job, stop } = await meet(smoke)
  const { ok, log } = await job
  expect([ok, log]).toEqual([false, expect.stringMatching(/::error::.*reserved[\s\S]*No server started/)])
  expect(await isWaiting(ada)).toBe(false)
  await stop()
})
