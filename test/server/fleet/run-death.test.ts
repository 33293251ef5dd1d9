import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { jobs } from '../../../db/schema/fleet.ts'
import type { LogPart } from '../../../src/domain/run-log.ts'
import type { Notice } from '../../../src/domain/wire/events.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { mailedTo, newPerson, waitFor } from '../../../testing/people/client.ts'
import { machinesOf } from '../../../testing/people/machines.ts'
import { newPremiumPerson } from '../../../testing/people/premium.ts'

const url = inject('url')

/** A person who may bring images, and their start of this one, once it has failed. */
async function startOwn(image: string) {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  expect((await person.post('/api/v1/environments', { name: 'Own', image })).status).toBe(201)
  const started = await person.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Own' })
  expect(started.status).toBe(202)
  const { id } = started.body.server
  const server = await waitFor(async () => {
    const { body } = await person.get<{ server: Server }>(`/api/v1/servers/${id}`)
    return body.server.ended_because === null ? null : body.server
  })
  const log = (await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
  return { person, server, log }
}

test('a program that throws: its code, its traceback in the log and in the email, and nothing to pay', async () => {
  const { person, server, log } = await startOwn('example.com/throws:3')
  const why =
    'Your program ended with exit code 3 before it answered on port 5173. We tried three times. Its log shows the last thing it said.'
  expect(server).toMatchObject({ error_code: 'exited', ended_because: 'failure', billed_from: null })
  expect(server.error_message).toBe(why)
  const traceback = 'FileNotFoundError: No map at /app/maps/harbor.json'
  expect(log.lines.filter(({ source, text }) => source === 'stderr' && text === traceback)).toHaveLength(3)
  expect(log.complete).toBe(true)
  const [words] = await waitFor(async () => {
    const found = await mailedTo(url, person.email, /The last lines of its log:\s+([\s\S]*?)See what happened/)
    return found.length > 0 && found
  })
  expect(words).toContain(traceback)
  expect(words?.trim().split('\n')).toHaveLength(20)
})

test('its person sees how far their image is, and pays once it answers', async () => {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  await person.post('/api/v1/environments', { name: 'Own', image: 'example.com/slow:12' })
  const { server, job_id } = (await person.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Own' })).body
  const db = openDatabase(inject('databaseUrl'))
  const seen = new Set<string>()
  await waitFor(async () => {
    const [job] = await db.select().from(jobs).where(eq(jobs.id, job_id))
    seen.add(job?.progress ?? '')
    return job?.status === 'succeeded'
  })
  const said = [...seen].flatMap((text) => /^Loading your image, (\d+)%(?:, about \d+s)?…$/.exec(text)?.[1] ?? [])
  const percents = said.map(Number)
  expect(percents.length).toBeGreaterThan(1)
  expect(percents).toEqual(percents.toSorted((a, b) => a - b))
  const ready = (await person.get<{ server: Server }>(`/api/v1/servers/${server.id}`)).body.server
  expect(Date.parse(ready.billed_from ?? '') - Date.parse(ready.startedAt ?? '')).toBeGreaterThan(8_000)
})

test('a program that ends again and again after it answered: one notice, and it is billed on', async () => {
  const person = await newPerson(url)
  const machines = machinesOf(url, inject('databaseUrl'))
  const machine = await machines.startMachine(person)
  let first = await machines.nextOf(machine)
  const notices = async () => {
    const { body } = await person.get<{ notices: Notice[] }>('/api/v1/notices')
    return body.notices.filter(({ title }) => title === 'Your program keeps ending')
  }
  const end = async (exit_code: number, repeats = 1, answered = true) => {
    const exited = {
      first,
      lines: [['machine', 'It ended']] as [string, string][],
      phase: { name: 'exited', exit_code, oom: false, answered },
    }
    for (let i = 0; i < repeats; i++) expect((await machines.say(machine, exited)).status).toBe(200)
    const again = {
      first: first + 1,
      lines: [['machine', 'Started']] as [string, string][],
      phase: { name: 'started' },
    }
    expect((await machines.say(machine, again)).status).toBe(200)
    first += 2
  }
  // Before it answered, its start was tried again.
  for (let i = 0; i < 2; i++) await end(1, 1, false)
  await end(1)
  // Its answer was lost: the same end, said twice.
  await end(1, 3)
  expect(await notices()).toEqual([])
  await end(139)
  const [notice] = await notices()
  expect(notice?.text).toMatch(
    /three times within 10 minutes, the last time with exit code 139 \(an invalid memory access/,
  )
  expect(notice?.link).toBe(`/servers/${machine.id}#log`)
  for (let i = 0; i < 4; i++) await end(2)
  expect(await notices()).toHaveLength(1)
  const { body } = await person.get<{ server: Server }>(`/api/v1/servers/${machine.id}`)
  expect(body.server).toMatchObject({ active: true, error_code: null })
})

test('an image that its registry does not have', async () => {
  const { server } = await startOwn('registry.invalid/ada/harbor:1')
  expect(server).toMatchObject({
    error_code: 'image_not_found',
    error_message:
      "Your server couldn't pull registry.invalid/ada/harbor:1. Check that this image exists, and that it is public or you saved a login for its registry. You weren't charged.",
  })
})
