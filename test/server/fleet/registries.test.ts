import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { runs, secrets } from '../../../db/schema/fleet.ts'
import type { LogPart } from '../../../src/domain/run-log.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { Client, mailsTo, newPerson, PASSWORD, waitFor } from '../../../testing/people/client.ts'
import { machinesOf } from '../../../testing/people/machines.ts'
import { newPremiumPerson } from '../../../testing/people/premium.ts'

const [url, databaseUrl] = [inject('url'), inject('databaseUrl')]
const db = openDatabase(databaseUrl)
const machines = machinesOf(url, databaseUrl)
const START = '/api/v1/aws/auto_cloud_start_request'
const TOKEN = 'canary-of-a-login'
const PRIVATE = 'registry.example.com/private:1'

const login = (person: Client, host: string, token: string, username = 'robot') =>
  person.request('PUT', `/registries/${host}`, { username, token, current_password: PASSWORD })

async function newOwner(image: string) {
  const person = await newPremiumPerson(url, databaseUrl)
  await person.post('/api/v1/environments', { name: 'Own', image })
  return person
}

const rowOf = async (id: string) => (await db.select().from(runs).where(eq(runs.id, id)))[0]
const serverOf = async (person: Client, id: string) =>
  (await person.get<{ server: Server }>(`/api/v1/servers/${id}`)).body.server

const logOf = async (person: Client, id: string) =>
  ((await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart).lines.map(({ text }) => text)

const until = (person: Client, id: string, is: (server: Server) => unknown): Promise<Server> =>
  waitFor(async () => {
    const server = await serverOf(person, id)
    return is(server) ? server : null
  })

test('a server pulls a private image with the login that its account saved', async () => {
  const ada = await newOwner(PRIVATE)
  expect((await login(ada, 'registry.example.com', 'let-me-in')).status).toBe(200)
  const { body } = await ada.post(START, { environment: 'Own' })
  const server = await until(ada, body.server.id, ({ billed_from }) => billed_from)
  expect([server.active, (await rowOf(server.id))?.registry]).toEqual([true, 'registry.example.com'])
  const said = await logOf(ada, server.id)
  expect(said).toContain(`Pulling ${PRIVATE} with your login for registry.example.com`)
  expect(said.join()).not.toContain('let-me-in')
})

test.each([
  ['no login', null, 'image_denied', "The registry wouldn't let your server pull registry.example.com/private:1."],
  ['a wrong one', 'wrong-token', 'image_login_refused', 'refused your login. Check its username'],
  ['one that ended', 'expired', 'image_login_expired', 'has expired. Make a new token there'],
])('with %s, the start fails, says so, and is free', async (_, token, code, sentence) => {
  const ada = await newOwner(PRIVATE)
  if (token) await login(ada, 'registry.example.com', token)
  const { body } = await ada.post(START, { environment: 'Own' })
  const server = await until(ada, body.server.id, ({ ended_because }) => ended_because)
  expect(server).toMatchObject({ billed_from: null, ended_because: 'failure', error_code: code })
  expect(server.error_message).toContain(sentence)
})

test('a machine gets the login for its own image until its container starts, and nobody reads it', async () => {
  const ada = await newOwner('ghcr.io/ada/simulator:1')
  await login(ada, 'ghcr.io', TOKEN, 'ada')
  await login(ada, 'quay.io', 'canary-of-another')
  const machine = await machines.startMachine(ada, { environment: 'Own' })
  const ask = async () => (await (await machines.askKey(machine.proof, machine.address)).json()).registry
  // The stand-in's container has started.
  expect(await ask()).toBeNull()
  const started = { containerStartedAt: (await rowOf(machine.id))?.containerStartedAt ?? 0 }
  const set = (values: Partial<typeof runs.$inferInsert>) => db.update(runs).set(values).where(eq(runs.id, machine.id))
  await set({ containerStartedAt: null })
  expect(await ask()).toEqual({ host: 'ghcr.io', username: 'ada', token: TOKEN })
  // A key of the run alone is no proof.
  expect((await machines.askKey({ ...machine.proof, signature: 'AAAA' }, machine.address)).status).toBe(403)
  await db.update(secrets).set({ sealed: 'nothing.we.can.open' }).where(eq(secrets.userId, ada.id))
  expect(await ask()).toBeNull()
  await ada.request('DELETE', '/registries/ghcr.io')
  expect(await ask()).toBeNull()
  await login(ada, 'ghcr.io', TOKEN, 'ada')
  const seen = await everythingAbout(ada, machine.id)
  expect(seen).toContain('"agent","Value":"required"')
  expect(seen).not.toContain('canary')
  await set(started)
})

/** Everything that people, programs, and operators are shown of an account and a run. */
async function everythingAbout(person: Awaited<ReturnType<typeof newOwner>>, id: string) {
  const paths = [
    '/settings/developers',
    '/api/v1/registries',
    '/dashboard',
    '/servers',
    '/servers.csv',
    '/settings/servers',
  ]
  const ofRun = [`/api/v1/servers/${id}`, `/api/v1/servers/${id}/log`, `/servers/${id}`, `/servers/${id}/log.txt`]
  const all = [...paths, ...ofRun, '/api/v1/users/export', '/api/v1/aws/get_jobs']
  const answers = await Promise.all(all.map(async (path) => (await person.request('GET', path)).text))
  const admin = new Client(url)
  await admin.signIn('admin@example.com', 'simulate')
  const operators = (await admin.request('GET', `/admin/runs/${id}`)).text
  const ec2 = new EC2Client({
    endpoint: inject('ec2Endpoint'),
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  const Filters = [{ Name: 'tag:session', Values: [id] }]
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ Filters }))
  const rows = await db.select().from(runs).where(eq(runs.id, id))
  return [
    ...answers,
    operators,
    JSON.stringify([await mailsTo(url, person.email), Reservations, rows]),
    JSON.stringify(await db.select().from(secrets).where(eq(secrets.userId, person.id))),
  ].join('\n')
}

test.each([
  ['GHCR.io/ada/sim:1', 'ghcr.io', true],
  ['ghcr.io/ada/sim', 'ghcr.io', true],
  ['registry.example.com:5000/sim:1', 'registry.example.com:5000', true],
  ['registry.example.com:5000/sim:1', 'registry.example.com', false],
  ['notghcr.io/ada/sim:1', 'ghcr.io', false],
  ['ghcr.io.example.com/sim:1', 'ghcr.io', false],
  ['ada/ghcr.io:1', 'ghcr.io', false],
  ['ada/sim:1.2', 'docker.io', true],
  ['ubuntu', 'docker.io', true],
  ['docker.io/ada/sim:1', 'docker.io', true],
  ['index.docker.io/ada/sim:1', 'docker.io', true],
  ['ghcr.io/ada/sim:1', 'docker.io', false],
])('the image %s with a login for %s: %s', async (image, host, uses) => {
  const ada = await newOwner(image)
  await login(ada, host, TOKEN)
  const { body } = await ada.post(START, { environment: 'Own' })
  expect((await rowOf(body.server.id))?.registry).toBe(uses ? host : null)
})

test('an image of the catalog never gets a login, and neither does somebody else', async () => {
  const [ada, eve] = [await newPremiumPerson(url, databaseUrl), await newOwner('ghcr.io/eve/sim:1')]
  for (const host of ['docker.io', 'ghcr.io']) await login(ada, host, TOKEN)
  for (const [person, environment] of [
    [ada, 'Mountains'],
    [eve, 'Own'],
  ] as const) {
    const { body } = await person.post(START, { environment })
    expect((await rowOf(body.server.id))?.registry).toBeNull()
  }
  const plain = await machines.startMachine(await newPerson(url))
  expect(await (await machines.askKey(plain.proof, plain.address)).json()).toMatchObject({ registry: null })
})
