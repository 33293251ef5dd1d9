import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/domain/error.ts'
import type { AppEnv } from '../../../src/server/http/app-env.ts'
import { errorResponse } from '../../../src/server/http/error-response.ts'
import { requestId } from '../../../src/server/http/middleware/request-id.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'

async function answerTo(thrown: unknown) {
  const { log, takeLines } = recordLog()
  const app = new Hono<AppEnv>().use(requestId(log))
  app.get('/', () => {
    throw thrown
  })
  app.onError((error, c) => errorResponse(error, c))
  const response = await app.request('/')
  return { status: response.status, text: await response.text(), headers: response.headers, lines: takeLines() }
}

test('a foreign error is answered with a fixed sentence, and only the log has its words', async () => {
  for (const thrown of [
    new Error('vendor-secret'),
    new TypeError('vendor-secret', { cause: new Error('vendor-secret') }),
  ]) {
    const { status, text, headers, lines } = await answerTo(thrown)
    expect([status, text.includes('vendor-secret')]).toEqual([500, false])
    expect(lines).toMatchObject([
      {
        event: 'request_failed',
        requestId: headers.get('X-Request-Id'),
        path: '/',
        error: expect.arrayContaining([expect.objectContaining({ message: 'vendor-secret' })]),
      },
    ])
  }
})

test("finds our own error inside a library's wrapper, and does not reveal its cause", async () => {
  const ours = new AppError('unavailable', 'Later, please.', { cause: new Error('vendor-secret') })
  const { status, text, lines } = await answerTo(new Error('vendor-secret', { cause: ours }))
  expect([status, JSON.parse(text)]).toEqual([
    503,
    { code: 'unavailable', error: 'Later, please.', message: 'Later, please.', errors: ['Later, please.'] },
  ])
  const messages = ['vendor-secret', 'Later, please.', 'vendor-secret']
  expect(lines).toMatchObject([{ error: messages.map((message) => ({ message })) }])
})

test('sends a wait in seconds', async () => {
  const { status, headers, lines } = await answerTo(new AppError('too_many', 'Wait.', { retryAfter: 17 }))
  expect([status, headers.get('Retry-After')]).toEqual([429, '17'])
  expect(lines).toEqual([])
})
