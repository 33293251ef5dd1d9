import { expect, inject, test } from 'vitest'
import { Client, newPerson } from '../../../testing/people/client.ts'

const half = '\ud800'

test.each([
  ['/users/sign_in', { user: { email: `${half}@example.com`, password: 'x' } }],
  ['/users/confirmation', { user: { email: `${half}@example.com` } }],
  ['/api/v1/contact_sales', { name: half, email: 'ada@example.com', source: 'Referral', message: 'Hello' }],
  ['/api/v1/aws/start', { server_id: half }],
  ['/api/v1/aws/stop_server', { server_id: 'srv_1', session_id: half }],
  ['/api/v1/aws/check_server_ip_status', { ip_address: half }],
])('half a character is not text: POST %s', async (path, body) => {
  const client = new Client(inject('url'))
  await client.signIn('pilot@example.com', 'simulate')
  const reply = await client.post(path, body)
  expect([reply.status, reply.body.error]).toEqual([400, 'The request body is not valid Unicode text.'])
})

test('an empty body switches nothing off: idle stops stay, and only null ends them', async () => {
  const ada = await newPerson(inject('url'))
  await ada.post('/api/v1/idle', { minutes: 30 })
  for (const body of [{}, { minute: 45 }]) {
    const reply = await ada.post('/api/v1/idle', body)
    expect([reply.status, reply.body.error]).toEqual([400, 'The field "minutes" is missing or has the wrong type.'])
  }
  expect((await ada.get('/api/v1/idle')).body).toEqual({ minutes: 30 })
  expect((await ada.post('/api/v1/idle', { minutes: null })).body.minutes).toBeNull()
})
