import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { plans } from '../../../db/schema.ts'
import type { LogPart } from '../../../src/domain/run-log.ts'
import type { Server } from '../../../src/domain/wire.ts'
import { newId } from '../../../src/server/id.ts'
import { mailedTo, newPerson, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))

/** A person who may bring images, and their start of this one, once it has failed. */
async function startOwn(image: string) {
  const person = await newPerson(url)
  const now = Date.now()
  const plan = {
    planType: 'premium',
    subType: 'paid',
    status: 'active',
    anchor: now,
    hours: 40,
    createdAt: now,
  } as const
  await db.update(plans).set({ endedAt: now }).where(eq(plans.userId, person.id))
  await db.insert(plans).values({ id: newId('sub'), userId: person.id, ...plan })
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

test('an image that its registry does not have', async () => {
  const { server } = await startOwn('registry.invalid/ada/harbor:1')
  expect(server).toMatchObject({
    error_code: 'image_not_found',
    error_message:
      "Your server couldn't pull registry.invalid/ada/harbor:1. Check that this image exists and is public. You weren't charged.",
  })
})
