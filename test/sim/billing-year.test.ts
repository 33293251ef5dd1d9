import { beforeAll, describe, expect, test } from 'vitest'
import { whatIsMissing, type YearReport } from './examine-year.ts'
import { playYear } from './play-year.ts'

/** Uses a real libSQL server over HTTP. `npm run sim:year` does the same for 1,000 customers without that server. */
const year = {
  customers: Number(process.env.SIM_CUSTOMERS ?? 4),
  runs: Number(process.env.SIM_RUNS ?? 8),
  seed: Number(process.env.SIM_SEED ?? 6),
}

describe(`a year of ${year.customers} customers`, () => {
  let report: YearReport
  beforeAll(async () => {
    report = await playYear({ ...year, database: 'sqld' })
  }, 3_600_000)

  test('enough happened', () => {
    expect(whatIsMissing(report)).toEqual([])
    for (const fault of [
      'Stripe error',
      'Stripe no answer',
      'database away',
      'database answer lost',
      'trigger doubled',
      // An operator would have read about it.
      'logged cron_task_failed',
      'logged invoice_step_failed',
    ])
      expect([fault, report.faults[fault] ?? 0]).not.toEqual([fault, 0])
  })

  test('meters, ledger, and invoices match the records of EC2 and Stripe, to the cent', () => {
    expect(report.wrong).toEqual([])
    expect(report.differenceCents).toBe(0)
  })
})
