import { expect, inject, test } from 'vitest'
import type { LogPart } from '../../../src/domain/run-log.ts'
import type { Notice } from '../../../src/domain/wire/events.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { mailedTo, newPerson, waitFor } from '../../../testing/people/client.ts'
import { newPremiumPerson } from '../../../testing/people/premium.ts'

const url = inject('url')
const START = '/api/v1/aws/auto_cloud_start_request'

async function withImage(image: string) {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  expect((await person.post('/api/v1/environments', { name: 'Own', image })).status).toBe(201)
  return person
}

test('a program runs once, with its command, and its exit ends the run', async () => {
  const person = await withImage('example.com/exits:3')
  const command = ['python', '-m', 'tests']
  const wishes = { environment: 'Own', parameters: { SEED: '42' }, until: 'exit', command }
  const started = await person.post(START, wishes)
  expect([started.status, started.body.server]).toMatchObject([202, { until: 'exit', command, exit_code: null }])
  const { id } = started.body.server as Server
  const read = async () =>
    (await person.get<{ server: Server; events: { what: string }[] }>(`/api/v1/servers/${id}`)).body
  const { server, events } = await waitFor(async () => {
    const body = await read()
    return body.server.ended_because !== null && body
  })
  expect(server).toMatchObject({ ended_because: 'exited', exit_code: 3, error_code: null, error_message: null })
  const seconds = (Date.parse(server.end_time ?? '') - Date.parse(server.billed_from ?? '')) / 1000
  expect(seconds).toBeLessThanOrEqual(2.1)
  expect(events.map(({ what }) => what)).toEqual(expect.arrayContaining(['program_started', 'exited']))
  const log = (await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
  const printed = log.lines.filter(({ source }) => source === 'stdout').map(({ text }) => text)
  // Once.
  expect([printed, log.complete]).toEqual([['hello', 'SEED=42', ...command], true])
  const { notices } = (await person.get<{ notices: Notice[] }>('/api/v1/notices')).body
  expect(notices[0]).toMatchObject({ title: 'Your program ended', read: false })
  expect(notices[0]?.text).toMatch(/^Your program ended with exit code 3\. You used /)
  // Whoever runs a hundred scenarios a day wants no email for each.
  expect(await mailedTo(url, person.email, /Your program ended/)).toEqual([])
  const { text } = await person.request('GET', `/servers/${id}`)
  expect(text).toMatch(/Ends.*With its program.*python -m tests/s)
  expect(text).toContain('name="command" value="[&quot;python&quot;,&quot;-m&quot;,&quot;tests&quot;]"')
})

test('an image that cannot be pulled fails the start, and costs nothing', async () => {
  const person = await withImage('registry.invalid/ada/harbor:1')
  const { id } = (await person.post(START, { environment: 'Own', until: 'exit' })).body.server as Server
  const server = await waitFor(async () => {
    const { body } = await person.get<{ server: Server }>(`/api/v1/servers/${id}`)
    return body.server.ended_because !== null && body.server
  })
  expect(server).toMatchObject({ error_code: 'image_not_found', billed_from: null, exit_code: null })
})

test('refuses what cannot end, and starts nothing', async () => {
  const person = await withImage('example.com/exits:0')
  for (const [sent, status, said] of [
    [{ environment: 'Mountains', until: 'exit' }, 422, 'Mountains runs until you stop it'],
    [{ environment: 'Own', until: 'never' }, 422, 'until "exit"'],
    [{ environment: 'Own', command: ['true'] }, 422, 'needs until'],
    [{ environment: 'Own', until: 'exit', command: [] }, 422, 'at least one word'],
    [{ environment: 'Own', until: 'exit', command: Array(65).fill('a') }, 422, 'at most 64 words'],
    [{ environment: 'Own', until: 'exit', command: 'true' }, 400, 'command'],
    [{ environment: 'Own', until: 1 }, 400, 'until'],
  ] as const) {
    const refused = await person.post(START, sent)
    expect([refused.status, refused.body.error]).toEqual([status, expect.stringContaining(said)])
  }
  expect((await person.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers).toEqual([])
  // Somebody else's environment is nobody's.
  const eve = await newPerson(url)
  expect((await eve.post(START, { environment: 'Own', until: 'exit' })).status).toBe(422)
})
