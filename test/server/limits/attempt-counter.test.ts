import { expect, inject, test } from 'vitest'
import { delayAfter, FREE_GUESSES } from '../../../src/domain/attempts.ts'
import { Client, newPerson } from '../../support/client.ts'

const url = inject('url')

test('in workerd, too: of twenty guesses at once five are looked at, and the rest is told to wait', async () => {
  const { email } = await newPerson(url)
  const stranger = new Client(url)
  await stranger.open('/sign_in')
  const guess = (password: string) => stranger.post('/users/sign_in', { user: { email, password } })
  const from = Date.now()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`guess number ${i}`)))
  const looked = answers.filter((answer) => answer.status === 401).length
  expect(looked).toBeGreaterThanOrEqual(FREE_GUESSES)
  expect(looked).toBeLessThanOrEqual(lookedAtIn(Date.now() - from))
  const waits = answers.map((answer) => answer.headers.get('Retry-After')).filter((wait) => wait !== null)
  expect(waits).toHaveLength(20 - looked)
  for (const wait of waits) expect(Number(wait)).toBeGreaterThan(0)
})

/** On a busy machine twenty hashes take longer than the first wait. */
function lookedAtIn(ms: number): number {
  let count = FREE_GUESSES
  for (let waited = delayAfter(count); waited <= ms; waited += delayAfter(count)) count += 1
  return count
}
