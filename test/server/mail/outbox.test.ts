import { asc } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { outbox } from '../../../db/schema/mail.ts'
import { emailBinding } from '../../../src/server/mail/email-binding.ts'
import { composeMail } from '../../../src/server/mail/letter.ts'
import { deliverMail, mailQuery } from '../../../src/server/mail/outbox.ts'
import type { Mail } from '../../../src/server/ports/mailer.ts'
import { ownDatabase } from '../../../testing/stack/own-database.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

const db = await ownDatabase()
const clock = { ms: 1_800_000_000_000 }
const write = (subject: string, to = 'a@example.com') =>
  mailQuery({ db, now: () => clock.ms }, to, composeMail(subject, ['Hello.']))
const rows = () => db.select().from(outbox).orderBy(asc(outbox.createdAt))

beforeEach(async () => {
  await db.delete(outbox)
})

function mailer(fails: (nth: number) => boolean = () => false, code?: string) {
  const { log, takeLines } = recordLog()
  const sent: Mail[] = []
  let nth = 0
  const send = async (mail: Mail) => {
    if (fails(nth++)) throw Object.assign(new Error('no'), { code })
    sent.push(mail)
  }
  const binding = emailBinding({ EMAIL: { send } as never, MAIL_FROM: 'us@example.com' })
  const context = testContext({ db, now: () => clock.ms, log, mailer: binding })
  return { sent, context, deliver: () => deliverMail(context), tries: () => nth, takeLines }
}

test('sends what is due once, however many deliver at once, and then forgets its text', async () => {
  for (let i = 0; i < 45; i++) await write(`mail ${i}`)
  const { sent, deliver, takeLines } = mailer()
  await Promise.all([deliver(), deliver(), deliver()])
  expect(sent.map((mail) => mail.subject).sort()).toEqual(Array.from({ length: 45 }, (_, i) => `mail ${i}`).sort())
  expect(sent[0]?.text).toContain('Hello.')
  for (const row of await rows()) expect([row.text, row.html, row.sendAt, row.sentAt]).toEqual(['', '', null, clock.ms])
  expect(takeLines()).toEqual([])
})

test('who waits for an email gets it before everybody else, in the order of their own', async () => {
  for (let i = 0; i < 30; i++) await write(`group ${i}`)
  for (const subject of ['confirm 1', 'confirm 2']) {
    clock.ms += 1
    await write(subject, 'ada@example.com')
  }
  const { sent, context } = mailer()
  await deliverMail(context, 'ada@example.com')
  expect(sent.slice(0, 2).map(({ subject }) => subject)).toEqual(['confirm 1', 'confirm 2'])
  expect(sent).toHaveLength(32)
})

test('a mail that is sent slowly, or waits for slow ones, is sent once, however many deliver meanwhile', async () => {
  for (let i = 0; i < 5; i++) await write(`mail ${i}`)
  const { sent, deliver, context } = mailer()
  const { send } = context.mailer
  context.mailer.send = async (mail) => {
    clock.ms += 59_999
    await deliver()
    await send(mail)
  }
  for (let i = 0; i < 3; i++) {
    await deliver()
    clock.ms += 120_000
  }
  expect(sent.map((mail) => mail.subject).sort()).toEqual(Array.from({ length: 5 }, (_, i) => `mail ${i}`).sort())
})

test('retries a refused mail, later each time, and finally gives up', async () => {
  await write('stubborn')
  const { sent, deliver, tries, takeLines } = mailer((nth) => nth < 3)
  const waits: number[] = []
  for (let i = 0; i < 3; i++) {
    await deliver()
    const [row] = await rows()
    waits.push((row?.sendAt ?? 0) - clock.ms)
    await deliver()
    clock.ms += waits.at(-1) ?? 0
  }
  expect(waits).toEqual([30_000, 60_000, 120_000])
  expect(tries()).toBe(3)
  const [{ id: mailId } = {}] = await rows()
  const error = [{ message: 'no' }]
  expect(takeLines()).toMatchObject([1, 2, 3].map((attempts) => ({ event: 'mail_failed', mailId, attempts, error })))
  await deliver()
  expect(sent).toHaveLength(1)

  await db.delete(outbox)
  await write('hopeless')
  const never = mailer(() => true)
  for (let i = 0; i < 60; i++) {
    await never.deliver()
    clock.ms += 3_600_000
  }
  expect(never.tries()).toBe(40)
})

test('what the mail service refuses for good gets one try; any other refusal is retried', async () => {
  for (const [code, tries] of [
    ['E_RECIPIENT_SUPPRESSED', 1],
    ['E_VALIDATION_ERROR', 1],
    ['E_HEADER_VALUE_TOO_LONG', 1],
    ['E_DELIVERY_FAILED', 2],
    ['E_RATE_LIMIT_EXCEEDED', 2],
    ['E_SENDER_NOT_VERIFIED', 2],
  ] as const) {
    await db.delete(outbox)
    await write('refused')
    const refusing = mailer(() => true, code)
    await refusing.deliver()
    clock.ms += 3_600_000
    await refusing.deliver()
    expect([code, refusing.tries()]).toEqual([code, tries])
    const [line] = refusing.takeLines()
    expect(line).toMatchObject({ event: 'mail_failed' })
    expect((line as { error: unknown[] }).error.at(-1)).toMatchObject({ code, message: 'no' })
    expect(await rows()).toMatchObject([{ sentAt: null, sendAt: tries === 1 ? null : expect.any(Number) }])
  }
})

test('a try that fails after another run has sent the mail changes nothing', async () => {
  await write('slow')
  const { sent, deliver, context } = mailer()
  const { send } = context.mailer
  context.mailer.send = async () => {
    context.mailer.send = send
    clock.ms += 120_000
    await deliver()
    throw new Error('no')
  }
  await deliver()
  clock.ms += 3_600_000
  await deliver()
  expect(sent).toHaveLength(1)
})

test('a mail says the same as text and as HTML, and none of its words become markup', () => {
  const compose = (words: string) =>
    composeMail('Subject', [words, { link: `https://example.com/?q=${words}`, label: words }, { typed: words }])
  // Without the values of attributes, where the link differs.
  const tags = (html: string) => html.replace(/"[^"<>]*"/g, '""').match(/<[^>]*>/g)
  const expected = tags(compose('words').html)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (words) => {
      const { text, html } = compose(words)
      expect(text).toContain(words)
      expect(tags(html)).toEqual(expected)
      expect(html.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]/)
    }),
  )
})

test('a mail loads nothing, has one button, and reads well as text', () => {
  const { text, html } = composeMail('Subject', [
    'One.',
    { link: 'https://example.com/a', label: 'Act' },
    { link: 'https://example.com/b', label: 'Or this' },
  ])
  expect(html).not.toMatch(/<(img|link|script|iframe)|url\(|@import/i)
  expect(html.match(/class="a"/g)).toHaveLength(1)
  expect(text).toBe(
    'One.\n\nAct:\nhttps://example.com/a\n\nOr this:\nhttps://example.com/b\n\nProving Ground: Simulate. Deploy. Win.\n\n',
  )
})
