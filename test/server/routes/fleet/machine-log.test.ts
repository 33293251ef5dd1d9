import { expect, test } from 'vitest'
import { runKeyUntil } from '../../../../src/server/fleet/machines/run-key.ts'
import { answerMachine } from '../../../../src/server/routes/fleet/machine-log.ts'
import { createContext } from '../../../../src/server/runtime/create-context.ts'
import { openSite, SITE } from '../../../../testing/stack/site.ts'

test('reads no endless number of pieces of a batch', async () => {
  const site = await openSite()
  const ctx = await createContext(
    site.env,
    () => {},
    () => {},
  )
  const key = runKeyUntil(ctx.config.secretKey, 'ses_1', Date.now() + 60_000)
  let reads = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        reads++
        if (reads < 100_000) controller.enqueue(new Uint8Array(1).fill(0x20))
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { Authorization: `Bearer ${key}` }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const answer = await answerMachine(ctx, site.env, new Request(`${SITE}/machines/log`, init))
  expect([answer.status, await answer.json()]).toMatchObject([413, { error: expect.stringContaining('small pieces') }])
  expect(reads).toBeLessThan(1100)
})
