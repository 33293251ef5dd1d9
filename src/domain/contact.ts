import * as v from 'valibot'
import { rule } from './form.ts'
import { characters, isEmail, MAX_NAME, normalEmail, normalName } from './person.ts'

export const CONTACT_SOURCES = ['Google Search', 'Social Media', 'Referral', 'Event / Conference', 'Other'] as const
const CONTACT_NAME_LIMIT = 50
export const CONTACT_MESSAGE_LIMIT = 2000
export const CONTACT_RECEIVED = "Thank you for contacting sales! We'll get back to you soon."
export const CONTACT_FAILED = 'There was an error submitting the form. Please try again later.'

export type ContactField = 'name' | 'email' | 'source' | 'message'

export const HELP_TOPICS = ['Servers and the simulator', 'Billing and plans', 'My account', 'Something else'] as const
export const HELP_RECEIVED = "Thanks! We received your message. We'll reply by email."
export const FEEDBACK_RECEIVED = 'Thanks! We received your feedback.'

export type HelpField = 'name' | 'email' | 'topic' | 'message'

/**
 * Forms send a line break as two characters, but people count one. Other control characters are never intended, and a
 * mail server may refuse an email that contains one.
 */
const normalMessage = (message: string) => message.replace(/(?![\n\t])\p{Cc}/gu, '').trim()

const isWritten = (message: string) => normalMessage(message) !== ''
const isShort = (message: string) => characters(normalMessage(message)) <= CONTACT_MESSAGE_LIMIT
const isNamed = (name: string) => normalName(name) !== ''
const hasEmail = (email: string) => normalEmail(email) !== ''
const emailIsValid = (email: string) => normalEmail(email) === '' || isEmail(email)
const TOO_LONG = `Message cannot exceed ${CONTACT_MESSAGE_LIMIT} characters`

export const contactForm = v.pipe(
  v.object({ name: v.string(), email: v.string(), source: v.string(), message: v.string() }),
  rule('name', ({ name }) => isNamed(name), 'Name is required'),
  rule(
    'name',
    ({ name }) => characters(normalName(name)) <= CONTACT_NAME_LIMIT,
    `Name cannot exceed ${CONTACT_NAME_LIMIT} characters`,
  ),
  rule('email', ({ email }) => hasEmail(email), 'Email is required'),
  rule('email', ({ email }) => emailIsValid(email), 'Please enter a valid email'),
  rule('source', ({ source }) => (CONTACT_SOURCES as readonly string[]).includes(source), 'Please select an option'),
  rule('message', ({ message }) => isWritten(message), 'Message is required'),
  rule('message', ({ message }) => isShort(message), TOO_LONG),
  v.transform((form) => ({
    name: normalName(form.name),
    email: normalEmail(form.email),
    source: form.source,
    message: normalMessage(form.message),
  })),
)

/** A name as long as an account's, because we know the name and email of people who are signed in. */
export const helpForm = v.pipe(
  v.object({ name: v.string(), email: v.string(), topic: v.string(), message: v.string() }),
  rule('name', ({ name }) => isNamed(name), 'Name is required'),
  rule('name', ({ name }) => characters(normalName(name)) <= MAX_NAME, `Name cannot exceed ${MAX_NAME} characters`),
  rule('email', ({ email }) => hasEmail(email), 'Email is required'),
  rule('email', ({ email }) => emailIsValid(email), 'Please enter a valid email'),
  rule('topic', ({ topic }) => (HELP_TOPICS as readonly string[]).includes(topic), 'Please choose a topic'),
  rule('message', ({ message }) => isWritten(message), 'Message is required'),
  rule('message', ({ message }) => isShort(message), TOO_LONG),
  v.transform((form) => ({
    name: normalName(form.name),
    email: normalEmail(form.email),
    topic: form.topic,
    message: normalMessage(form.message),
  })),
)

export const feedbackForm = v.pipe(
  v.object({ message: v.string() }),
  rule('message', ({ message }) => isWritten(message), 'Please write your feedback first.'),
  rule('message', ({ message }) => isShort(message), TOO_LONG),
  v.transform((form) => ({ message: normalMessage(form.message) })),
)
