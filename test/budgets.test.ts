import { expect, inject, test } from 'vitest'
import { byteRows } from '../bench/bytes.ts'
import { newPerson } from './support/client.ts'

test('every size is within its budget', async () => {
  const url = inject('url')
  const person = await newPerson(url)
  const rows = await byteRows(url, (await person.open('/dashboard')).text)
  const over = rows.filter(({ ok }) => !ok).map(({ what, measured, budget }) => `${what}: ${measured}, ${budget}`)
  expect(rows.length).toBeGreaterThan(20)
  expect(over).toEqual([])
})
