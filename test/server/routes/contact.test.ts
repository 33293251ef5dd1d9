import { expect, inject, test } from 'vitest'
import type { CapturedMail } from '../../../dev/mailbox.ts'
import { Client, waitFor } from '../../../testing/people/client.ts'

const message = { name: 'Ada', email: 'ada@example.com', source: 'Referral', message: 'Forty rovers, please.' }
const send = async (change: Record<string, string>) =>
  new Client(inject('url')).post('/api/v1/contact_sales', {
    ...message,
    email: `${crypto.randomUUID()}@example.com`,
    ...change,
  })

test('a message to sales is saved and mailed to the operator, whose reply goes to its writer', async () => {
  const email = `${crypto.randomUUID()}@example.com`
  const reply = await send({ email })
  expect([reply.status, reply.body]).toEqual([200, { Errors: [] }])
  const mail = await waitFor(async () => {
    const mails = (await (await fetch(`${inject('url')}/dev/mailbox.json`)).json()) as CapturedMail[]
    return mails.find((mail) => mail.text.includes(email))
  })
  const heads = { to: 'operator@proving-ground.example', reply_to: email, subject: 'New sales message' }
  expect(mail).toMatchObject(heads)
  expect(mail.text).toContain(message.message)
})

test.each([
  [{ name: ' ' }, 'Name is required'],
  [{ name: 'n'.repeat(51) }, 'Name cannot exceed 50 characters'],
  [{ email: '' }, 'Email is required'],
  [{ email: 'nobody' }, 'Please enter a valid email'],
  [{ source: 'A friend' }, 'Please select an option'],
  [{ message: '\n' }, 'Message is required'],
  [{ message: 'm'.repeat(2001) }, 'Message cannot exceed 2000 characters'],
])('refuses %o', async (change, sentence) => {
  const reply = await send(change)
  expect([reply.status, reply.body.Errors]).toEqual([422, [sentence]])
})

test('reports everything that is wrong at once', async () => {
  const reply = await send({ name: '', email: '', source: '', message: '' })
  const all = ['Name is required', 'Email is required', 'Please select an option', 'Message is required']
  expect(reply.body).toMatchObject({ Errors: all, errors: all })
})

test('discards what only a program fills in, without telling it', async () => {
  const reply = await send({ website: 'http://spam.example', name: '' })
  expect([reply.status, reply.body]).toEqual([200, { Errors: [] }])
})
