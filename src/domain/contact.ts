import * as v from 'valibot'
import { rule } from './form.ts'
import { characters, isEmail, normalEmail, normalName } from './person.ts'

export const CONTACT_SOURCES = ['Google Search', 'Social Media', 'Referral', 'Event / Conference', 'Other'] as const
const CONTACT_NAME_LIMIT = 50
export const CONTACT_MESSAGE_LIMIT = 2000
export const CONTACT_RECEIVED = "Thank you for contacting sales! We'll get back to you soon."
export const CONTACT_FAILED = 'There was an error submitting the form. Please try again later.'

export type ContactField = 'name' | 'email' | 'source' | 'message'

/** Forms send a line break as two characters; people count it as one. */
const normalMessage = (message: string) => message.replaceAll('\r\n', '\n').trim()

export const contactForm = v.pipe(
  v.object({ name: v.string(), email: v.string(), source: v.string(), message: v.string() }),
  rule('name', ({ name }) => normalName(name) !== '', 'Name is required'),
  rule(
    'name',
    ({ name }) => characters(normalName(name)) <= CONTACT_NAME_LIMIT,
    `Name cannot exceed ${CONTACT_NAME_LIMIT} characters`,
  ),
  rule('email', ({ email }) => normalEmail(email) !== '', 'Email is required'),
  rule('email', ({ email }) => normalEmail(email) === '' || isEmail(email), 'Please enter a valid email'),
  rule('source', ({ source }) => (CONTACT_SOURCES as readonly string[]).includes(source), 'Please select an option'),
  rule('message', ({ message }) => normalMessage(message) !== '', 'Message is required'),
  rule(
    'message',
    ({ message }) => characters(normalMessage(message)) <= CONTACT_MESSAGE_LIMIT,
    `Message cannot exceed ${CONTACT_MESSAGE_LIMIT} characters`,
  ),
  v.transform((form) => ({
    name: normalName(form.name),
    email: normalEmail(form.email),
    source: form.source,
    message: normalMessage(form.message),
  })),
)
