import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type EC2Client, type Instance, paginateDescribeInstances, RunInstancesCommand } from '@aws-sdk/client-ec2'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../dev/free-port.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'
import { clientOf, named } from './local-ec2.ts'

const launches = 40
const perLaunch = 5

async function start(dataDir: string, webPort: number) {
  const script = fileURLToPath(new URL('stand-in-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, dataDir, String(webPort)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(kill)
  const [endpoint] = (await once(child.stdout, 'data')) as [Buffer]
  return { client: clientOf(String(endpoint).trim()), kill }
}

const launch = (client: EC2Client, token: string) =>
  client.send(
    new RunInstancesCommand({
      ClientToken: token,
      MinCount: perLaunch,
      MaxCount: perLaunch,
      LaunchTemplate: { LaunchTemplateName: 'simulator' },
      ...named(token),
    }),
  )

async function describeAll(client: EC2Client): Promise<Instance[]> {
  const instances: Instance[] = []
  for await (const page of paginateDescribeInstances({ client, pageSize: 100 }, {}))
    for (const reservation of page.Reservations ?? []) instances.push(...(reservation.Instances ?? []))
  return instances
}

async function runningAll(client: EC2Client): Promise<Instance[]> {
  for (;;) {
    const instances = await describeAll(client)
    if (instances.every((instance) => instance.State?.Name === 'running')) return instances
  }
}

test('a kill during launches loses no instance, address, or page, and retries start nothing', async () => {
  const [dataDir, webPort] = [temporaryFolder('ec2'), await freePort()]
  const first = await start(dataDir, webPort)
  const tokens = Array.from({ length: launches }, (_, i) => `token-${i}`)
  const answered = new Map<string, string[]>()
  let killing: Promise<void> | undefined
  for (const token of tokens) {
    // The kill hits one launch in flight. Later ones can't connect.
    if (answered.size === Math.floor(launches / 2))
      killing ??= new Promise((resolve) => setImmediate(() => resolve(first.kill())))
    const answer = await launch(first.client, token).catch(() => null)
    if (answer)
      answered.set(
        token,
        (answer.Instances ?? []).map((instance) => instance.InstanceId ?? ''),
      )
  }
  await killing
  expect(answered.size).toBeGreaterThanOrEqual(launches / 2)
  expect(answered.size).toBeLessThan(launches)

  const second = await start(dataDir, webPort)
  for (const token of tokens) {
    const ids = ((await launch(second.client, token)).Instances ?? []).map((instance) => instance.InstanceId ?? '')
    expect(ids).toHaveLength(perLaunch)
    if (answered.has(token)) expect(ids).toEqual(answered.get(token))
  }
  const before = await runningAll(second.client)
  expect(before).toHaveLength(launches * perLaunch)
  expect(new Set(before.map((instance) => instance.PublicIpAddress)).size).toBe(before.length)

  await second.kill()
  const third = await start(dataDir, webPort)
  expect(await describeAll(third.client)).toEqual(before)
  for (const instance of [before.at(0), before.at(-1)]) {
    const page = await (await fetch(`http://${instance?.PublicIpAddress}:${webPort}/`)).text()
    expect(page).toContain(`<title>${instance?.ClientToken}</title>`)
  }
})
