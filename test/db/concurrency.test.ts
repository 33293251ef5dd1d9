import { expect, inject, test } from 'vitest'
import { newPerson } from '../../testing/people/client.ts'

const url = inject('url')

/** Workers aborts a request that waits for another one's I/O, so requests may never queue for each other. */
test('answers many concurrent requests independently', async () => {
  const person = await newPerson(url)
  const statuses = await Promise.all(
    Array.from({ length: 80 }, async () => (await person.open('/api/v1/servers/get_servers')).status),
  )
  expect(statuses).toEqual(Array(80).fill(200))
})
