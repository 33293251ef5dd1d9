import { expect, test } from 'vitest'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import { TASKS } from '../../src/server/cron.ts'

test('every trigger has its tasks, and every task its trigger', () => {
  expect(Object.keys(TASKS)).toEqual(readWranglerConfig().crons)
})
