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
const TOKEN = 'canary-of-a-token'
const KEY = '-----BEGIN KEY-----\ncanary/of/a/key\nshort\n'

const put = (person: Client, name: string, value: string) =>
  person.request('PUT', `/secrets/${name}`, { value, current_password: PASSWORD })

async function newOwner(image = 'example.com/exits:0') {
  const person = await newPremiumPerson(url, databaseUrl)
  await person.post('/api/v1/environments', { name: 'Own', image })
  await put(person, 'TOKEN', TOKEN)
  await put(person, 'KEY', KEY)
  return person
}

const logOf = (person: Client, id: string) =>
  waitFor(async () => {
    const part = (await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
    return part.complete && part
  })

/** Everything that people, programs, and operators are shown of an account and a run. */
async function everythingAbout(person: Client & { email: string }, id: string) {
  const paths = [
    '/settings/developers',
    '/settings/servers',
    '/api/v1/secrets',
    '/dashboard',
    '/servers',
    '/servers.csv',
    '/notices',
  ]
  const ofRun = ['', '/log', '/log.txt'].map((path) => `/api/v1/servers/${id}${path}`)
  const all = [...paths, ...ofRun, `/servers/${id}`, `/servers/${id}/log.txt`, '/api/v1/users/export']
  const answers = await Promise.all(all.map(async (path) => (await person.request('GET', path)).text))
  const admin = new Client(url)
  await admin.signIn('admin@example.com', 'simulate')
  const operators = (await admin.request('GET', `/admin/runs/${id}`)).text
  return [...answers, operators, JSON.stringify(await mailsTo(url, person.email)), await tagsOf(id)].join('\n')
}

/** What EC2 shows of the run's instances. */
async function tagsOf(id: string): Promise<string> {
  const ec2 = new EC2Client({
    endpoint: inject('ec2Endpoint'),
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  const Filters = [{ Name: 'tag:session', Values: [id] }]
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ Filters }))
  return JSON.stringify(Reservations)
}

test('a program gets the secrets that its start names, and nobody reads them', async () => {
  const ada = await newOwner()
  await put(ada, 'UNNAMED', 'canary-of-another')
  const wishes = { environment: 'Own', parameters: { SCENARIO: 'fog' }, secrets: ['TOKEN', 'KEY', 'TOKEN'] }
  const started = await ada.post(START, wishes)
  expect(started.status).toBe(202)
  const { id } = started.body.server as Server
  const printed = (await logOf(ada, id)).lines.filter(({ source }) => source === 'stdout').map(({ text }) => text)
  expect(printed.slice(0, 5)).toEqual(['hello', 'SCENARIO=fog', 'TOKEN=***', 'KEY=***', ''])
  expect(printed).not.toContain('short')
  expect(printed).not.toContain('UNNAMED')
  const [run] = await db.select().from(runs).where(eq(runs.id, id))
  expect(run?.secrets).toEqual(['TOKEN', 'KEY'])
  const seen = await everythingAbout(ada, id)
  expect(seen).toContain('TOKEN')
  expect(seen).toContain('"agent","Value":"required"')
  expect(seen).not.toContain('canary')
  expect(JSON.stringify(await db.select().from(secrets).where(eq(secrets.userId, ada.id)))).not.toContain('canary')
  const page = await waitFor(async () => {
    const { text } = await ada.open(`/servers/${id}`)
    return text.includes('Start again like this one') && text
  })
  expect(page).toMatch(/Parameters and secrets.*<code>TOKEN<\/code>.*A secret/s)
  // Its form starts one like it.
  expect(page).toContain('name="secrets[TOKEN]" value="on"')
  const again = Object.fromEntries(
    [...page.matchAll(/name="(environment|vehicle|secrets\[\w+\])" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  )
  const form = new URLSearchParams({ authenticity_token: ada.csrf, ...again }).toString()
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
  expect((await ada.request('POST', START, form, type)).headers.get('Location')).toBe('/dashboard')
  const [latest] = (await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  const [second] = await db
    .select()
    .from(runs)
    .where(eq(runs.id, latest?.id ?? ''))
  expect([second?.id === id, second?.secrets]).toEqual([false, ['TOKEN', 'KEY']])
})

test('refuses a start that names what it cannot get, naming it, and starts nothing', async () => {
  const [ada, eve] = [await newOwner(), await newOwner()]
  await put(eve, 'HERS', 'canary-of-eve')
  const refusal = async (path: string, wishes: object) => {
    const { status, body } = await ada.post(path, { max_gpus: 1, start: true, environment: 'Own', ...wishes })
    return [status, body.code, body.error]
  }
  for (const path of [START, '/api/v1/line']) {
    expect(await refusal(path, { secrets: ['TOKEN', 'HERS'] })).toEqual([422, 'invalid', 'You have no secret HERS.'])
    expect(await refusal(path, { secrets: ['TOKEN'], parameters: { TOKEN: '' } })).toEqual([
      422,
      'invalid',
      'TOKEN is a parameter and a secret. Choose one of them.',
    ])
    expect(await refusal(path, { secrets: ['TOKEN'], environment: 'Mountains' })).toEqual([
      422,
      'invalid',
      "Only your own images get secrets, so this start can't have TOKEN.",
    ])
    expect((await refusal(path, { secrets: ['token'] }))[2]).toContain('"token" can\'t be a secret\'s name.')
    const many = Array.from({ length: 21 }, (_, i) => `S${i}`)
    expect((await refusal(path, { secrets: many }))[2]).toBe('A start takes at most 20 secrets.')
    for (const sent of ['TOKEN', [1], { TOKEN: 'on' }]) expect((await refusal(path, { secrets: sent }))[0]).toBe(400)
  }
  const place = { server_id: 'srv_1', environment: 'Own', secrets: ['HERS'] }
  expect((await ada.post('/api/v1/aws/start', place)).body.error).toBe('You have no secret HERS.')
  expect((await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers).toEqual([])
})

test('a start whose secret is gone before its program runs fails, says which, and is free', async () => {
  const ada = await newOwner('example.com/slow:1')
  const { body } = await ada.post(START, { environment: 'Own', secrets: ['TOKEN', 'KEY'] })
  expect((await ada.request('DELETE', '/secrets/KEY')).status).toBe(200)
  const { lines } = await logOf(ada, body.server.id)
  expect(lines.map(({ text }) => text)).toContain("The secret KEY is gone, so the program didn't start.")
  expect(lines.filter(({ source }) => source !== 'machine')).toEqual([])
  const server = await waitFor(async () => {
    const { server } = (await ada.get<{ server: Server }>(`/api/v1/servers/${body.server.id}`)).body
    return server.end_time && server
  })
  expect(server).toMatchObject({
    billed_from: null,
    ended_because: 'failure',
    error_code: 'secret_missing',
    error_message: expect.stringContaining(
      'A secret of this start was gone before your program ran, so we stopped it.',
    ),
  })
})

test('a machine gets what its own run names, and a program that runs keeps running once a secret is gone', async () => {
  const ada = await newOwner('example.com/simulator:1')
  const machine = await machines.startMachine(ada, { environment: 'Own', secrets: ['TOKEN'] })
  const ask = async () => (await machines.askKey(machine.proof, machine.address)).json()
  expect(await ask()).toMatchObject({ run: machine.id, parameters: {}, secrets: { TOKEN } })
  await db.update(secrets).set({ sealed: 'nothing.we.can.open' }).where(eq(secrets.userId, ada.id))
  expect(await ask()).toMatchObject({ secrets: { TOKEN: null } })
  await ada.request('DELETE', '/secrets/TOKEN')
  expect(await ask()).toMatchObject({ key: expect.any(String), secrets: { TOKEN: null } })
  const { server } = (await ada.get<{ server: Server }>(`/api/v1/servers/${machine.id}`)).body
  expect([server.active, server.billed_from]).toEqual([true, expect.any(String)])
  const plain = await machines.startMachine(await newPerson(url))
  expect(await (await machines.askKey(plain.proof, plain.address)).json()).toMatchObject({ secrets: {} })
})
