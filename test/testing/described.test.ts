import { expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../../src/domain/error.ts'
import { createApp } from '../../src/server/app.ts'
import { requestDescribed } from '../../testing/stack/described.ts'
import { recordLog } from '../../testing/stack/recorded-log.ts'

/** The app, but every call is refused with this code. */
function refused(code: ErrorCode, path: string, method = 'GET') {
  const app = createApp(recordLog().log, () => Promise.reject(new AppError(code, 'No.')))
  return requestDescribed(app, path, { method }, {})
}

test('a refusal passes with a code that the document names at its status', async () => {
  expect((await refused('too_many', '/api/v1/notices')).status).toBe(429)
  expect((await refused('unexpected', '/api/v1/notices')).status).toBe(500)
  expect((await refused('not_running', '/api/v1/servers/srv_1', 'PUT')).status).toBe(409)
  expect((await refused('conflict', '/no/such/call')).status).toBe(409)
})

test.each<[ErrorCode, string]>([
  ['has_server', '/api/v1/notices'],
  ['malformed', '/api/v1/notices'],
  ['not_running', '/api/v1/servers/srv_1'],
  ['not_running', '/api/v1/servers/get_servers'],
])('a refusal with %s of %s fails the test: its document names no such code there', async (code, path) => {
  await expect(refused(code, path)).rejects.toThrow(/^GET \S+ refused with 4\d\d and the code \w+, but/)
})

test('so does one without a code', async () => {
  const bare = { request: async () => Response.json({ error: 'No.' }, { status: 404 }) }
  await expect(requestDescribed(bare, '/no/such/call', {})).rejects.toThrow('the code undefined')
})

const answered = (body: object, status = 200) =>
  requestDescribed({ request: async () => Response.json(body, { status }) }, '/api/v1/idle', {})

test('an answer passes as the document describes it', async () => {
  expect((await answered({ minutes: 30 })).status).toBe(200)
  expect((await answered({ minutes: null })).status).toBe(200)
})

test.each([
  [{ minutes: '30' }, 200],
  [{ minutes: 30, hours: 1 }, 200],
  [{}, 200],
  [{ minutes: 30 }, 201],
])('an answer %j with %i fails the test: its document says something else', async (body, status) => {
  await expect(answered(body, status)).rejects.toThrow(/^GET \/api\/v1\/idle /)
})
