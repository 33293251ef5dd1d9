import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, expect, test } from 'vitest'
import { builtModules } from '../../../dev/stack.ts'
import { readWranglerConfig } from '../../../dev/wrangler-config.ts'
import type { JobChannelCalls } from '../../../src/server/ports/objects.ts'
import type { Line } from '../../../testing/stack/recorded-log.ts'
import { openSite } from '../../../testing/stack/site.ts'

const NOTHING_ANSWERS = 'http://127.0.0.1:1'
const lines: Line[] = []
const { compatibilityDate, durableObjects } = readWranglerConfig()
const { env } = await openSite({ LIBSQL_URL: NOTHING_ANSWERS })
const bindings = Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value === 'string')) as Record<
  string,
  string
>
const mf = new Miniflare(
  convertV4MiniflareOptions({
    workers: [{ name: 'app', compatibilityDate, modules: builtModules(), durableObjects, bindings }],
    handleStructuredLogs: ({ message }) => void (message.startsWith('{') && lines.push(JSON.parse(message))),
  }),
)
afterAll(() => mf.dispose())
const line = async (event: string, userId?: string) => {
  const found = () => lines.find((one) => one.event === event && (userId === undefined || one.userId === userId))
  await expect.poll(found).toBeDefined()
  return found()
}

/** The built Worker, with minified names and without a database. */
test('a log line names the request, the trigger and its task, or the user whose jobs were checked', async () => {
  const answer = await mf.dispatchFetch('http://localhost/users/confirmation?confirmation_token=x')
  expect(await line('request_failed')).toMatchObject({ requestId: answer.headers.get('X-Request-Id') })

  const worker = await mf.getWorker('app')
  await worker.scheduled({ cron: '* * * * *' })
  expect(await line('cron_task_failed')).toMatchObject({ cron: '* * * * *', task: 'endLargeServers' })

  const channels = await mf.getDurableObjectNamespace('JOB_CHANNEL')
  await (channels.getByName('user_1') as unknown as JobChannelCalls).wake('user_1')
  expect(await line('alarm_failed', 'user_1')).toMatchObject({ userId: 'user_1' })
  expect(await line('alarm_failed', 'fleet')).toMatchObject({ userId: 'fleet' })
})
