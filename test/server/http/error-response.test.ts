import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { AppError } from '../../../src/domain/error.ts'
import type { AppEnv } from '../../../src/server/http/app-env.ts'
import { errorResponse } from '../../../src/server/http/error-response.ts'

const log = vi.spyOn(console, 'error').mockImplementation(() => {})

async function answerTo(thrown: unknown) {
  const app = new Hono<AppEnv>()
  app.get('/', () => {
    throw thrown
  })
  app.onError((error, c) => errorResponse(error, c))
  const response = await app.request('/')
  return { status: response.status, text: await response.text(), headers: response.headers }
}

test('what is not ours is answered with a fixed sentence and told to the log alone', async () => {
  for (const thrown of [
    new Error('vendor-secret'),
    new TypeError('vendor-secret', { cause: new Error('vendor-secret') }),
  ]) {
    const { status, text } = await answerTo(thrown)
    expect([status, text.includes('vendor-secret')]).toEqual([500, false])
    expect(JSON.stringify(log.mock.calls.at(-1))).toContain('vendor-secret')
  }
})

test('an error of ours is found under what a library wrapped around it, and its cause stays inside', async () => {
  const ours = new AppError('unavailable', 'Later, please.', { cause: new Error('vendor-secret') })
  const { status, text } = await answerTo(new Error('vendor-secret', { cause: ours }))
  expect([status, JSON.parse(text)]).toEqual([
    503,
    { error: 'Later, please.', message: 'Later, please.', errors: ['Later, please.'] },
  ])
})

test('a wait is named in seconds', async () => {
  const { status, headers } = await answerTo(new AppError('too_many', 'Wait.', { retryAfter: 17 }))
  expect([status, headers.get('Retry-After')]).toEqual([429, '17'])
})
