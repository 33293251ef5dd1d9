import { expect, test } from 'vitest'
import { devRoutes } from '../../dev/dev-routes.ts'
import type { Services } from '../../dev/services.ts'
import { startCrons } from '../../dev/stack.ts'
import { everyMinute, readWranglerConfig } from '../../dev/wrangler-config.ts'

const EACH_MINUTE = ['* * * * *', '0-58 * * * *', '1-59 * * * *']

test('three of the triggers fire every minute', () => {
  expect(readWranglerConfig().crons.filter(everyMinute)).toEqual(EACH_MINUTE)
})

test.each([
  ['* * * * *', EACH_MINUTE],
  ['0-58 * * * *', ['0-58 * * * *']],
  ['17 4 * * *', ['17 4 * * *']],
])('POST /dev/cron %s answers once %j are done', async (cron, expected) => {
  const done: string[] = []
  const app = devRoutes({} as Services, async (trigger) => {
    await new Promise((next) => setImmediate(next))
    done.push(trigger)
  })
  const answer = await app.request('/dev/cron', { method: 'POST', body: JSON.stringify({ cron }) })
  expect(await answer.json()).toEqual({ ran: cron })
  expect(done).toEqual(expected)
})

test('the local stack fires each trigger separately: one that hangs delays no other', async () => {
  const fired: string[] = []
  const stop = startCrons({
    runCron(cron) {
      fired.push(cron)
      return new Promise(() => {})
    },
  })
  stop()
  expect(fired).toEqual(EACH_MINUTE)
})
