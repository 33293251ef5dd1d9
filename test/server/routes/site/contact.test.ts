import { expect, inject, test } from 'vitest'
import { Client, mailsTo, newPerson, waitFor } from '../../../../testing/people/client.ts'

const message = { name: 'Ada', email: 'ada@example.com', source: 'Referral', message: 'Forty rovers, please.' }
const send = async (change: Record<string, string>) =>
  new Client(inject('url')).post('/api/v1/contact_sales', {
    ...message,
    email: `${crypto.randomUUID()}@example.com`,
    ...change,
  })

const mailAbout = (email: string) =>
  waitFor(async () => {
    const mails = await mailsTo(inject('url'), 'operator@proving-ground.example')
    return mails.find(({ text }) => text.includes(email))
  })
/** What the console shows of this person, read as an admin. */
async function messagesOf(email: string): Promise<string[]> {
  const admin = new Client(inject('url'))
  await admin.signIn('admin@example.com', 'simulate')
  const { text } = await admin.get('/console/messages')
  const articles = [...text.matchAll(/<article>.*?<\/article>/gs)].map(([article]) => article)
  return articles.filter((article) => article.includes(email)).map((article) => article.replace(/<[^>]+>/g, ' '))
}

test('a message to sales is saved and mailed to the operator, whose reply goes to its writer', async () => {
  const email = `${crypto.randomUUID()}@example.com`
  const reply = await send({ email })
  expect([reply.status, reply.body]).toEqual([200, { Errors: [] }])
  const mail = await mailAbout(email)
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

const question = { name: 'Ada', topic: 'Billing and plans', message: 'What is this charge?' }

test('a visitor asks for help: mailed to the operator with the topic, and in the console', async () => {
  const email = `${crypto.randomUUID()}@example.com`
  const reply = await new Client(inject('url')).post('/api/v1/help', { ...question, email })
  expect([reply.status, reply.body.message]).toEqual([200, "Thanks! We received your message. We'll reply by email."])
  const mail = await mailAbout(email)
  expect(mail).toMatchObject({ reply_to: email, subject: 'New help request' })
  expect(mail.text).toContain('Topic: Billing and plans')
  expect(mail.text).toContain('They were not signed in')
  const [shown, ...others] = await messagesOf(email)
  expect(others).toEqual([])
  expect(shown).toMatch(/Help.*Topic:.*Billing and plans.*What is this charge\?/s)
})

test('signed-in people write under their own account, whatever else they send', async () => {
  const person = await newPerson(inject('url'), 'Grace')
  expect(await (await person.open('/help')).text).not.toMatch(/<input[^>]+name="(name|email)"/)
  await person.post('/api/v1/help', { ...question, name: 'The operator', email: 'victim@example.com' })
  const mail = await mailAbout(person.email)
  expect(mail.reply_to).toBe(person.email)
  expect(mail.text).toContain('Name: Grace')
  expect(mail.text).toContain('They were signed in with this address.')
})

test('help needs a name, an email, a topic, and a message, and reports all faults at once; bots fill in more', async () => {
  const ask = (body: Record<string, string>) => new Client(inject('url')).post('/api/v1/help', body)
  const refused = await ask({ topic: 'Other' })
  const all = ['Name is required', 'Email is required', 'Please choose a topic', 'Message is required']
  expect([refused.status, refused.body.errors]).toEqual([422, all])
  const email = `${crypto.randomUUID()}@example.com`
  expect((await ask({ ...question, email, message: 'm'.repeat(2001) })).body.error).toMatch(/2000 characters/)
  expect((await ask({ ...question, email, website: 'http://spam.example' })).status).toBe(200)
  expect(await messagesOf(email)).toEqual([])
})

test('feedback reaches the console under its writer, and nobody gets an email; visitors give none', async () => {
  const person = await newPerson(inject('url'), 'Grace')
  const reply = await person.post('/api/v1/feedback', { message: ' More wind, please. ' })
  expect([reply.status, reply.body]).toEqual([200, { message: 'Thanks! We received your feedback.' }])
  expect((await person.post('/api/v1/feedback', { message: ' \n ' })).status).toBe(422)
  expect((await person.post('/api/v1/feedback', { message: 'm'.repeat(2001) })).status).toBe(422)
  expect((await new Client(inject('url')).post('/api/v1/feedback', { message: 'Hello' })).status).toBe(401)
  const shown = await messagesOf(person.email)
  expect(shown).toHaveLength(1)
  expect(shown[0]).toMatch(/Feedback.*More wind, please\./s)
})
