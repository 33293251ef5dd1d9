import { expect, inject, test } from 'vitest'
import { newPerson } from '../../testing/people/client.ts'

const url = inject('url')

/** On the Workers platform a request that waits for another one's answer is given up: nothing may queue between requests. */
test('many requests at once are answered, each by itself', async () => {
  const person = await newPerson(url)
  const statuses = await Promise.all(
    Array.from({ length: 80 }, async () => (await person.open('/api/v1/servers/get_servers')).status),
  )
  expect(statuses).toEqual(Array(80).fill(200))
})
