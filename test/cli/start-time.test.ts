import { expect, inject, test } from 'vitest'
import { places, startTimes } from '../../db/schema/fleet.ts'
import { serversOf, stopServer, waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'
import { testDatabase } from '../../testing/stack/database.ts'

test('start and run say how long such a start usually takes', async () => {
  const person = await newPremiumPerson(inject('url'), inject('databaseUrl'))
  const own = { name: 'Own', image: 'example.com/exits:0' }
  expect((await person.post('/api/v1/environments', own)).status).toBe(201)
  const db = testDatabase()
  const types = new Set((await db.select().from(places)).map((place) => place.instanceType))
  const kind = { owner: person.id, environment: 'Own', countedAt: Date.now() }
  for (const instanceType of types)
    await db.insert(startTimes).values([
      { ...kind, instanceType, untilExit: false, p50: 25, p90: 40 },
      { ...kind, instanceType, untilExit: true, p50: 20, p90: 20 },
    ])

  const ada = await newOperator(inject('url'), 'operate', person)
  const program = await ada.run(['run', '--environment', 'own'])
  expect(program.err).toMatch(/^Started .*\nUsually ready in 20s\.\n/)
  await waitFor(async () => (await serversOf(person)).every(({ active, pending }) => !active && !pending))

  const started = await ada.run(['start', '--environment', 'Own'])
  expect(started.out).toContain('Usually ready in 25s, 9 in 10 times within 40s. Follow it with')
  await stopServer(person)
})
