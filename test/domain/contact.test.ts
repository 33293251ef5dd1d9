import { expect, test } from 'vitest'
import {
  CONTACT_FAILED,
  CONTACT_RECEIVED,
  CONTACT_SOURCES,
  contactForm,
  FEEDBACK_RECEIVED,
  feedbackForm,
  HELP_RECEIVED,
  HELP_TOPICS,
  helpForm,
} from '../../src/domain/contact.ts'
import { checkForm } from '../../src/domain/form.ts'

const filled = { name: ' Ada ', email: ' Ada@Example.com ', source: 'Referral', message: ' Two\r\nlines ' }
const faults = (change: object) => {
  const result = checkForm(contactForm, { ...filled, ...change }, { every: true })
  return result.ok ? [] : result.faults.map(({ field, message }) => [field, message])
}

test('trims the text, and counts a line break as one character', () => {
  expect(checkForm(contactForm, filled)).toEqual({
    ok: true,
    value: { name: 'Ada', email: 'ada@example.com', source: 'Referral', message: 'Two\nlines' },
  })
})

test.each([
  [{ name: ' ' }, 'name', 'Name is required'],
  [{ name: 'x'.repeat(51) }, 'name', 'Name cannot exceed 50 characters'],
  [{ email: ' ' }, 'email', 'Email is required'],
  [{ email: 'ada' }, 'email', 'Please enter a valid email'],
  [{ source: '' }, 'source', 'Please select an option'],
  [{ source: 'referral' }, 'source', 'Please select an option'],
  [{ message: ' \r\n ' }, 'message', 'Message is required'],
  [{ message: 'x'.repeat(2001) }, 'message', 'Message cannot exceed 2000 characters'],
])('%j breaks one rule', (change, field, message) => {
  expect(faults(change)).toEqual([[field, message]])
})

test('an empty form breaks the rule of every field, in order', () => {
  expect(faults({ name: '', email: '', source: '', message: '' }).map(([field]) => field)).toEqual([
    'name',
    'email',
    'source',
    'message',
  ])
  // The wrong shape is not a form at all, so no rule checks it.
  expect(checkForm(contactForm, { ...filled, name: 7 }).ok).toBe(false)
})

test('accepts text exactly as long as allowed', () => {
  expect(faults({ name: ` ${'🛰'.repeat(50)} ` })).toEqual([])
  expect(faults({ message: ` ${'x\r\n'.repeat(999)}xx ` })).toEqual([])
})

test('drops control characters that no mail server carries, and keeps line breaks and tabs', () => {
  const message = 'a\u0000b\u001b[31m\u0085\tc\nd\r'
  const kept = 'ab[31m\tc\nd'
  expect(checkForm(contactForm, { ...filled, message })).toMatchObject({ value: { message: kept } })
  expect(checkForm(helpForm, { ...question, message })).toMatchObject({ value: { message: kept } })
  expect(checkForm(feedbackForm, { message })).toMatchObject({ value: { message: kept } })
  expect(faults({ message: '\u0000 \u0007' })).toEqual([['message', 'Message is required']])
  expect(faults({ message: `\u0000${'x'.repeat(2000)}` })).toEqual([])
})

test('a writer can have heard about us from one of these', () => {
  expect(CONTACT_SOURCES).toEqual(['Google Search', 'Social Media', 'Referral', 'Event / Conference', 'Other'])
  for (const source of CONTACT_SOURCES) expect(faults({ source })).toEqual([])
})

test('the sentences shown after sending', () => {
  expect(CONTACT_RECEIVED).toBe("Thank you for contacting sales! We'll get back to you soon.")
  expect(CONTACT_FAILED).toBe('There was an error submitting the form. Please try again later.')
})

const question = { name: ' Ada ', email: ' Ada@Example.com ', topic: 'My account', message: ' Two\r\nlines ' }
const helpFaults = (change: object) => {
  const result = checkForm(helpForm, { ...question, ...change }, { every: true })
  return result.ok ? [] : result.faults.map(({ field, message }) => [field, message])
}

test('a request for help is trimmed like a message to sales', () => {
  expect(checkForm(helpForm, question)).toEqual({
    ok: true,
    value: { name: 'Ada', email: 'ada@example.com', topic: 'My account', message: 'Two\nlines' },
  })
  for (const topic of HELP_TOPICS) expect(helpFaults({ topic })).toEqual([])
  expect(helpFaults({ name: 'x'.repeat(100), message: 'x'.repeat(2000) })).toEqual([])
})

test.each([
  [{ name: ' ' }, 'name', 'Name is required'],
  [{ name: 'x'.repeat(101) }, 'name', 'Name cannot exceed 100 characters'],
  [{ email: ' ' }, 'email', 'Email is required'],
  [{ email: 'ada' }, 'email', 'Please enter a valid email'],
  [{ topic: 'Referral' }, 'topic', 'Please choose a topic'],
  [{ message: ' \r\n ' }, 'message', 'Message is required'],
  [{ message: 'x'.repeat(2001) }, 'message', 'Message cannot exceed 2000 characters'],
])('in a request for help, %j breaks one rule', (change, field, message) => {
  expect(helpFaults(change)).toEqual([[field, message]])
})

test('feedback needs words, and not too many', () => {
  const check = (message: string) => checkForm(feedbackForm, { message })
  expect(check(' Two\r\nlines ')).toEqual({ ok: true, value: { message: 'Two\nlines' } })
  expect(check(' ')).toMatchObject({
    faults: [{ field: 'message', message: 'Please write your feedback first.' }],
  })
  expect(check('x'.repeat(2001))).toMatchObject({
    faults: [{ field: 'message', message: 'Message cannot exceed 2000 characters' }],
  })
  expect([HELP_RECEIVED, FEEDBACK_RECEIVED]).toEqual([
    "Thanks! We received your message. We'll reply by email.",
    'Thanks! We received your feedback.',
  ])
})
