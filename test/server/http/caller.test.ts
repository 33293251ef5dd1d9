import { expect, inject, test } from 'vitest'
import type { SignIn } from '../../../src/domain/wire/accounts.ts'
import { newPerson, PASSWORD } from '../../../testing/people/client.ts'

const url = inject('url')

test('a browser whose long name is cut mid-character can sign in, and is listed', async () => {
  const ada = await newPerson(url)
  // As UTF-8 bytes, the way the platform reads them; the limit splits the emoji.
  const name = Buffer.from(`${'a'.repeat(299)}🚁🚁`).toString('latin1')
  const body = { user: { email: ada.email, password: PASSWORD } }
  expect((await ada.request('POST', '/users/sign_in', body, { 'User-Agent': name })).status).toBe(200)
  const { sign_ins } = (await ada.get<{ sign_ins: SignIn[] }>('/api/v1/users/sign_ins')).body
  expect(sign_ins.find(({ current }) => current)?.user_agent).toMatch(/^a{299}.?$/)
})
