import { expect, test } from 'vitest'
import { BASIC, PREMIUM } from '../../../src/domain/money/plan.ts'
import { dueWarning, FILES_LIMIT, filesRights, reachedPercent } from '../../../src/domain/money/plan-files.ts'

const DAY = 86_400_000
const GB = 1_000_000_000
const plan = (planType: 'demo' | 'basic' | 'premium', anchor: number, endedAt: number | null = null) => ({
  planType,
  status: 'active',
  anchor,
  endedAt,
  cancelAt: null,
})

test('the limits are what the plans promise', () => {
  expect(FILES_LIMIT).toEqual({ demo: GB, basic: 10 * GB, premium: null, enterprise: null })
  expect([BASIC.features.syntheticData, PREMIUM.features.syntheticData]).toEqual([
    '10 GB synthetic data',
    'Unlimited synthetic data',
  ])
})

test('the current plan decides; after it, the last one, to read', () => {
  expect(filesRights([], 100)).toEqual({ limit: 0, readOnly: 'none' })
  expect(filesRights([plan('demo', 1)], 100)).toEqual({ limit: GB, readOnly: null })
  expect(filesRights([plan('demo', 1, 50), plan('basic', 50)], 100)).toEqual({ limit: 10 * GB, readOnly: null })
  expect(filesRights([plan('premium', 50, 90), plan('demo', 1, 50)], 100)).toEqual({ limit: null, readOnly: 'ended' })
  expect(filesRights([plan('basic', 50, 50)], 100)).toEqual({ limit: 0, readOnly: 'none' })
  expect(filesRights([{ ...plan('basic', 50), cancelAt: 100 }], 99).readOnly).toBe(null)
  expect(filesRights([{ ...plan('basic', 50), cancelAt: 100 }], 100).readOnly).toBe('ended')
})

test('an unpaid plan is there to read, and one whose first payment is due is none', () => {
  const unpaid = (status: string) => ({ ...plan('premium', 50), status })
  for (const status of ['past_due', 'unpaid', 'paused'])
    expect(filesRights([unpaid(status)], 100)).toEqual({ limit: null, readOnly: 'unpaid' })
  expect(filesRights([unpaid('incomplete')], 100)).toEqual({ limit: 0, readOnly: 'none' })
  expect(filesRights([unpaid('incomplete'), plan('basic', 1, 40)], 100)).toEqual({ limit: 10 * GB, readOnly: 'ended' })
  expect(filesRights([{ ...unpaid('past_due'), cancelAt: 100 }], 100).readOnly).toBe('ended')
})

test('warns 30, 7, and 1 days ahead', () => {
  const at = (left: number) => dueWarning(100 * DAY, 100 * DAY - left)
  expect([30 * DAY, 7 * DAY + 1, 7 * DAY, DAY + 1, DAY, 0].map(at)).toEqual([30, 30, 7, 7, 1, 1])
})

test('says how full it is', () => {
  const percents = [0, 799, 800, 999, 1000, 1999, 2000, 3999, 4000, 9000].map((used) => reachedPercent(used, 1000))
  expect(percents).toEqual([0, 0, 80, 80, 100, 100, 200, 200, 400, 800])
  expect(reachedPercent(0, 0)).toBe(0)
  expect([999 * GB, 1000 * GB, 4000 * GB].map((used) => reachedPercent(used, null))).toEqual([0, 100, 400])
})
