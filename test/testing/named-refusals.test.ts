import { expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../../src/domain/error.ts'
import { createApp } from '../../src/server/app.ts'
import { requestChecked } from '../../testing/stack/named-refusals.ts'
import { recordLog } from '../../testing/stack/recorded-log.ts'

/** The app, but every call is refused with this code. */
function refused(code: ErrorCode, path: string, method = 'GET') {
  const app = createApp(recordLog().log, () => Promise.reject(new AppError(code, 'No.')))
  return requestChecked(app, path, { method }, {})
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
  await expect(requestChecked(bare, '/no/such/call', {})).rejects.toThrow('the code undefined')
})
