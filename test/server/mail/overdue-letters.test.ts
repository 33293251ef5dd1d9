import { afterEach, expect, test, vi } from 'vitest'
import { suspendedMail } from '../../../src/server/mail/overdue-letters.ts'

afterEach(() => vi.unstubAllEnvs())

test('writes days in UTC, wherever it runs', () => {
  vi.stubEnv('TZ', 'America/Los_Angeles')
  const [periodStart, periodEnd, dueAt] = [Date.UTC(2028, 0, 1), Date.UTC(2028, 1, 1), Date.UTC(2028, 1, 16)]
  const owed = { cents: 175, periodStart, periodEnd, dueAt, payUrl: 'https://pay.example/1', processing: false }
  const { parts } = suspendedMail(owed)
  expect(parts[0]).toContain('Your $1.75 bill for Jan 1, 2028 – Jan 31, 2028 was due on Feb 16, 2028.')
})
