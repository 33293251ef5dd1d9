import { Hono } from 'hono'
import * as z from 'zod/mini'
import { CONTACT_RECEIVED, FEEDBACK_RECEIVED, HELP_RECEIVED } from '../../../domain/contact.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { callerOf } from '../../http/caller.ts'
import { answer } from '../../http/reply.ts'

/** `website` is a honeypot that no person sees: we answer as usual and discard the message. */
const message = z.object({ name: text, email: text, source: text, message: text, website: text })
const help = z.object({ name: text, email: text, topic: text, message: text, website: text })

/** Loaded when needed, because few people write to us. */
const letters = () => import('../../mail/contact.ts')

export const contact = new Hono<AppEnv>()
  .post('/api/v1/contact_sales', body(message), async (c) => {
    const { website, ...form } = c.req.valid('json')
    if (!website) await (await letters()).contactSales(c.var.ctx, form, callerOf(c))
    return c.var.form ? answer(c, { message: CONTACT_RECEIVED }) : c.json({ Errors: [] })
  })
  .post('/api/v1/help', body(help), async (c) => {
    const { website, ...form } = c.req.valid('json')
    if (!website) await (await letters()).askForHelp(c.var.ctx, c.var.signIn?.user ?? null, form, callerOf(c))
    return answer(c, { message: HELP_RECEIVED })
  })
  .post('/api/v1/feedback', body(z.object({ message: text })), async (c) => {
    await (await letters()).giveFeedback(c.var.ctx, signedIn(c).user, c.req.valid('json'))
    return answer(c, { message: FEEDBACK_RECEIVED })
  })
