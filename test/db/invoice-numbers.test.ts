import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryClient } from '../../testing/stack/memory-client.ts'

const FOLDER = join(import.meta.dirname, '../../db/migrations')
const OURS = '0067_invoice_numbers.sql'
const PAID = { step: "'sent'", status: "'paid'", number: 'NULL', next: 'NULL' }
/** Invoices of the version before, and whether we look at them again in a day. */
const INVOICES: [row: typeof PAID, again: boolean][] = [
  [PAID, true],
  [{ ...PAID, status: "'void'" }, true],
  [{ ...PAID, number: "'PG-7'" }, false],
  [{ ...PAID, step: "'credited'", status: 'NULL' }, false],
]

test('looks once more at what was paid before its number was kept', async () => {
  const client = memoryClient('libsql')
  const apply = (file: string) => client.run(readFileSync(join(FOLDER, file), 'utf8'))
  for (const file of readdirSync(FOLDER).sort()) if (file.endsWith('.sql') && file < OURS) apply(file)
  client.run("INSERT INTO users (id, email, name, password_hash, created_at) VALUES ('u', 'u', 'Ada', '', 0)")
  for (const [i, [{ step, status, number, next }]] of INVOICES.entries()) {
    client.run(`INSERT INTO billing_records (id, user_id, period_start, period_end, seconds, included_hours, trial, amount_cents, created_at)
      VALUES ('${i}', 'u', ${i}, ${i + 1}, 1, 0, 0, 1, 0)`)
    client.run(`INSERT INTO invoices (record_id, user_id, step, status, number, next_at, created_at)
      VALUES ('${i}', 'u', ${step}, ${status}, ${number}, ${next}, 0)`)
  }
  for (const [id, number] of [
    ['old', 'NULL'],
    ['new', "'PG-8'"],
  ])
    client.run(`INSERT INTO plan_payments (id, user_id, stripe_invoice_id, number, period_start, period_end, amount_cents,
      remaining_cents, status, synced_at, created_at) VALUES ('${id}', 'u', '${id}', ${number}, 0, 1, 1, 0, 'paid', 0, 0)`)
  const before = Date.now()
  apply(OURS)
  const { rows } = await client.execute('SELECT next_at FROM invoices ORDER BY record_id')
  expect(rows.map(({ next_at }) => next_at !== null)).toEqual(INVOICES.map(([, again]) => again))
  expect(Number(rows[0]?.next_at)).toBeGreaterThan(before + 23 * 3_600_000)
  const plans = await client.execute('SELECT id FROM plan_payments WHERE check_at IS NOT NULL')
  expect(plans.rows.map(({ id }) => id)).toEqual(['old'])
})
