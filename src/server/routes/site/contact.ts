import * as z from 'zod/mini'
import { CONTACT_RECEIVED, FEEDBACK_RECEIVED, HELP_RECEIVED } from '../../../domain/contact.ts'
import * as shape from '../../../domain/wire/answers.ts'
import { signedIn } from '../../http/app-env.ts'
import { callerOf } from '../../http/caller.ts'
import { text } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

/** `website` is a honeypot that no person sees: we answer as usual and discard the message. */
const message = z.object({ name: text, email: text, source: text, message: text, website: text })
const help = z.object({ name: text, email: text, topic: text, message: text, website: text })

/** Loaded when needed, because few people write to us. */
const letters = () => import('../../mail/contact.ts')

export const contact = [
  route('POST /api/v1/contact_sales', {
    access: 'public',
    form: { at: '/contact_sales', done: '/contact_sales' },
    errorFields: ({ errors }) => ({ Errors: errors }),
    takes: message,
    summary: 'Write to sales',
    description: 'Leave `website` empty.',
    answers: [200, z.object({ Errors: z.array(z.string()).check(z.maxLength(0)) })],
    refuses: ['invalid', 'too_many'],
  }).answer(async (c) => {
    const { website, ...form } = c.req.valid('json')
    if (!website) await (await letters()).contactSales(c.var.ctx, form, callerOf(c))
    return c.var.form ? answer(c, { message: CONTACT_RECEIVED }) : c.json({ Errors: [] })
  }),
  route('POST /api/v1/help', {
    access: 'public',
    form: { at: '/help', done: '/help' },
    takes: help,
    summary: 'Ask for help',
    description: ["With a sign-in, the account's name and email count.", 'Leave `website` empty.'],
    answers: [200, shape.message],
    refuses: ['invalid', 'too_many'],
  }).answer(async (c) => {
    const { website, ...form } = c.req.valid('json')
    if (!website) await (await letters()).askForHelp(c.var.ctx, c.var.signIn?.user ?? null, form, callerOf(c))
    return answer(c, { message: HELP_RECEIVED })
  }),
  route('POST /api/v1/feedback', {
    access: 'user',
    form: { at: '/account_overview', done: '/account_overview' },
    takes: z.object({ message: text }),
    summary: 'Send feedback',
    answers: [200, shape.message],
    refuses: ['invalid', 'too_many'],
  }).answer(async (c) => {
    await (await letters()).giveFeedback(c.var.ctx, signedIn(c).user, c.req.valid('json'))
    return answer(c, { message: FEEDBACK_RECEIVED })
  }),
]
