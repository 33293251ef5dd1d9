import type { ServerResponse } from 'node:http'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, expect, test } from 'vitest'
import { sixConnections } from '../../dev/six-connections.ts'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import { serve } from '../../testing/stack/serve.ts'

/** A server that answers on command. */
const waiting: ServerResponse[] = []
const slow = await serve((_, response) => void waiting.push(response))

/** Makes `count` calls at once, and aborts the eighth immediately. */
const WORKER = `
import { DurableObject } from 'cloudflare:workers'
export class JobChannel extends DurableObject {}
export class EventSender extends DurableObject {}
export default { async fetch(request) {
  const count = Number(new URL(request.url).searchParams.get('count'))
  const ask = (i) => fetch('${slow}/', i === 7 ? { signal: AbortSignal.timeout(0) } : {})
  const answers = await Promise.allSettled(Array.from({ length: count }, (_, i) => ask(i)))
  return Response.json(answers.map(({ reason }) => reason?.name ?? 'answered'))
} }`

const mf = new Miniflare(
  convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    compatibilityDate: readWranglerConfig().compatibilityDate,
    modules: sixConnections([{ type: 'ESModule', path: 'index.js', contents: WORKER }]),
    durableObjects: { JOB_CHANNEL: { className: 'JobChannel', useSQLite: true } },
  }),
)
const url = await mf.ready
afterAll(() => mf.dispose())

const ask = async (count: number) => (await (await fetch(new URL(`/?count=${count}`, url))).json()) as string[]
const arrived = (count: number) => expect.poll(() => waiting.length).toBe(count)
const answerOne = () => waiting.shift()?.end()

test('one invocation has six open connections and queues the seventh; another invocation has its own six', async () => {
  const first = ask(7)
  await arrived(6)
  const second = ask(2)
  // The second's two arrive even though the first's seventh came earlier and is still queued.
  await arrived(8)
  answerOne()
  await arrived(8)
  while (waiting.length) answerOne()
  expect(await first).toEqual(Array(7).fill('answered'))
  expect(await second).toEqual(Array(2).fill('answered'))
})

test('a queued call is aborted when its timer runs out, and never sent', async () => {
  const answers = ask(9)
  await arrived(6)
  for (let i = 0; i < 6; i++) answerOne()
  await arrived(2)
  while (waiting.length) answerOne()
  expect(await answers).toEqual(Array.from({ length: 9 }, (_, i) => (i === 7 ? 'TimeoutError' : 'answered')))
})
