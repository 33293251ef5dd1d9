import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { newPerson, PASSWORD, waitFor } from '../../testing/people/client.ts'
import { examples } from '../../testing/people/reader.ts'

const ROOT = resolve(import.meta.dirname, '../..')
// Inside the repository, so that the example finds the library.
mkdirSync(join(ROOT, 'test-results'), { recursive: true })
const folder = mkdtempSync(join(ROOT, 'test-results/webhook-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the example checks the signature of what the product sends, and refuses any other', async () => {
  const ada = await newPerson(inject('url'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/hooks`
  await ada.open('/settings/developers')
  const { status, body } = await ada.post<{ id: string; secret: string }>('/webhooks', {
    url,
    events: ['server.running'],
    current_password: PASSWORD,
  })
  expect(status).toBe(201)
  const file = join(folder, 'receiver.mjs')
  writeFileSync(file, (await examples('/docs/events'))['receiver.mjs'] ?? '')
  const receiver = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: body.secret, PORT: String(port) } })
  let said = ''
  receiver.stdout.on('data', (chunk) => {
    said += chunk
  })
  try {
    await waitFor(async () => (await fetch(url, { method: 'POST', body: '{}' }).catch(() => null))?.status === 401)
    await ada.post(`/webhooks/${body.id}/test`)
    await waitFor(async () => /^evt_\S+ webhook\.test$/m.test(said))
    await waitFor(async () => (await ada.open(`/webhooks/${body.id}`)).text.includes('Delivered'))
  } finally {
    receiver.kill()
  }
})
