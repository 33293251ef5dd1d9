import type { InferInput, InferOutput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { contactMessages } from '../../../db/schema.ts'
import { CONTACT_FAILED, contactForm } from '../../domain/contact.ts'
import { orElse } from '../../domain/error.ts'
import { type Context, siteOrigin } from '../context.ts'
import { requireValid } from '../form-rules.ts'
import { newId } from '../id.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { composeMail, type MailContent } from './letter.ts'
import { deliverMail, mailQuery } from './outbox.ts'

/** Stores the message for the console and emails it to the operator, whose reply goes to the sender. */
export async function contactSales(ctx: Context, input: InferInput<typeof contactForm>, caller: Caller): Promise<void> {
  const form = requireValid(contactForm, input, { every: true })
  await limitCalls(ctx, 'contact', caller, form.email)
  await writeBatch(ctx.db, [
    ctx.db.insert(contactMessages).values({ id: newId('msg'), ...form, createdAt: ctx.now() }),
    mailQuery(ctx, ctx.config.operatorEmail, salesMail(siteOrigin(ctx), form)),
  ]).catch(orElse(CONTACT_FAILED))
  ctx.background(deliverMail(ctx))
}

/** Our words first, the message last, so that typed text can't pass for ours. */
function salesMail(origin: string, { name, email, source, message }: InferOutput<typeof contactForm>): MailContent {
  const mail = composeMail('New sales message', [
    'New sales message. Reply to this email to answer, or read it in the console.',
    { label: 'Open the console', link: `${origin}/console/messages` },
    { typed: `Name: ${inOneLine(name)}\nEmail: ${email}\nSource: ${source}` },
    { typed: message },
  ])
  return { ...mail, replyTo: email }
}

/** Strips line breaks and characters that change the reading direction. */
function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ')
}
