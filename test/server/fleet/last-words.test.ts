import { expect, test } from 'vitest'
import type { RunRow } from '../../../db/schema/fleet.ts'
import { lastWords } from '../../../src/server/fleet/run-log.ts'
import type { Context } from '../../../src/server/runtime/context.ts'

const RUN = { id: 'ses_1', instanceId: 'i-1', billedFrom: null } as RunRow

test('the last words of a program are cut between characters: the database refuses half of one, and the run would never end', async () => {
  const progress = `${'='.repeat(299)}🚁🚁`
  const tail = async () => [{ n: 1, at: 0, source: 'stdout', text: progress }]
  const ctx = { runLog: () => ({ tail }) } as unknown as Context
  expect(await lastWords(ctx, RUN)).toEqual([`${'='.repeat(299)}🚁`])
})
