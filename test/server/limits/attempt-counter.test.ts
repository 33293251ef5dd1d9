import { expect, inject, test } from 'vitest'
import { Client, newPerson } from '../../support/client.ts'

const url = inject('url')

test('in workerd, too: of twenty guesses at once five are looked at, and the rest is told to wait', async () => {
  const { email } = await newPerson(url)
  const stranger = new Client(url)
  await stranger.open('/sign_in')
  const guess = (password: string) => stranger.post('/users/sign_in', { user: { email, password } })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`guess number ${i}`)))
  const statuses = answers.map((answer) => answer.status).sort()
  expect(statuses).toEqual([...Array(5).fill(401), ...Array(15).fill(429)])
  const waits = answers.map((answer) => answer.headers.get('Retry-After')).filter((wait) => wait !== null)
  expect(waits).toHaveLength(15)
  for (const wait of waits) expect(Number(wait)).toBeGreaterThan(0)
})
