import { expect, inject, test } from 'vitest'
import { Client } from '../../../../testing/people/client.ts'

const url = inject('url')

test.each(['/api/', '/api/v1/nope', '/api/v1/contact_sales/'])(
  '%s is not an endpoint, not even for a form',
  async (path) => {
    const client = new Client(url)
    await client.open('/sign_in')
    const json = { error: 'Unknown endpoint.', errors: ['Unknown endpoint.'] }
    expect(await client.post(path, {})).toMatchObject({ status: 404, body: json })
    const form = `authenticity_token=${encodeURIComponent(client.csrf)}`
    const sent = await client.request('POST', path, form, { 'Content-Type': 'application/x-www-form-urlencoded' })
    expect(sent).toMatchObject({ status: 404, body: json })
  },
)

test('the title is the heading alone', async () => {
  const page = await new Client(url).get('/no-such-page')
  expect(page.text).toContain('<title>Oops—page not found</title>')
})
