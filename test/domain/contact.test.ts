import { expect, test } from 'vitest'
import { CONTACT_FAILED, CONTACT_RECEIVED, CONTACT_SOURCES, contactForm } from '../../src/domain/contact.ts'
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

test('a writer can have heard about us from one of these', () => {
  expect(CONTACT_SOURCES).toEqual(['Google Search', 'Social Media', 'Referral', 'Event / Conference', 'Other'])
  for (const source of CONTACT_SOURCES) expect(faults({ source })).toEqual([])
})

test('the sentences shown after sending', () => {
  expect(CONTACT_RECEIVED).toBe("Thank you for contacting sales! We'll get back to you soon.")
  expect(CONTACT_FAILED).toBe('There was an error submitting the form. Please try again later.')
})
