import { expect, inject, test } from 'vitest'
import { byteRows } from '../bench/bytes.ts'
import { benchRoundTrips } from '../bench/round-trips.ts'
import { startBenchSite } from '../bench/site.ts'
import type { Row } from '../bench/table.ts'
import { newPerson } from '../testing/people/client.ts'

const over = (rows: Row[]) =>
  rows.filter(({ ok }) => !ok).map(({ what, measured, budget }) => `${what}: ${measured}, ${budget}`)

test('every size stays within its budget', async () => {
  const url = inject('url')
  const person = await newPerson(url)
  const rows = await byteRows(url, (await person.open('/dashboard')).text)
  expect(rows.length).toBeGreaterThan(20)
  expect(over(rows)).toEqual([])
})

test('no page or poll queries the database more often than its budget', async () => {
  const site = await startBenchSite()
  try {
    const rows = await benchRoundTrips(site)
    expect(rows.length).toBeGreaterThan(15)
    expect(over(rows)).toEqual([])
  } finally {
    await site.close()
  }
})
