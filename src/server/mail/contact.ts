import type { InferInput, InferOutput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { contactMessages } from '../../../db/schema/operations.ts'
import { CONTACT_FAILED, contactForm, feedbackForm, helpForm } from '../../domain/contact.ts'
import { orElse } from '../../domain/error.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { type Caller, limitCalls, limitPerson } from '../limits/limits.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { composeMail, type MailContent } from './letter.ts'
import { deliverMail, mailQuery } from './outbox.ts'

/** Stores the message for the console and emails it to the operator, whose reply goes to the sender. */
export async function contactSales(ctx: Context, input: InferInput<typeof contactForm>, caller: Caller): Promise<void> {
  const form = requireValid(contactForm, input, { every: true })
  await limitCalls(ctx, 'contact', caller, form.email)
  await writeBatch(ctx.db, [
    ctx.db.insert(contactMessages).values({ id: newId('msg'), kind: 'sales', ...form, createdAt: ctx.now() }),
    mailQuery(ctx, ctx.config.operatorEmail, salesMail(siteOrigin(ctx), form)),
  ]).catch(orElse(CONTACT_FAILED))
  ctx.background(deliverMail(ctx))
}

/** The same for a question to support. Signed-in people write under their account's name and address. */
export async function askForHelp(
  ctx: Context,
  user: User | null,
  input: InferInput<typeof helpForm>,
  caller: Caller,
): Promise<void> {
  const form = requireValid(helpForm, user ? { ...input, name: user.name || user.email, email: user.email } : input, {
    every: true,
  })
  await limitCalls(ctx, 'contact', caller, form.email)
  const { topic, ...message } = form
  await writeBatch(ctx.db, [
    ctx.db
      .insert(contactMessages)
      .values({ id: newId('msg'), kind: 'help', ...message, source: topic, createdAt: ctx.now() }),
    mailQuery(ctx, ctx.config.operatorEmail, helpMail(siteOrigin(ctx), form, user)),
  ]).catch(orElse(CONTACT_FAILED))
  ctx.background(deliverMail(ctx))
}

/** Stores feedback for the console. It needs no answer, so it sends no email. */
export async function giveFeedback(ctx: Context, user: User, input: InferInput<typeof feedbackForm>): Promise<void> {
  const { message } = requireValid(feedbackForm, input)
  await limitPerson(ctx, 'feedback', user.id)
  await ctx.db.insert(contactMessages).values({
    id: newId('msg'),
    kind: 'feedback',
    name: user.name,
    email: user.email,
    source: '',
    message,
    createdAt: ctx.now(),
  })
}

function helpMail(origin: string, form: InferOutput<typeof helpForm>, user: User | null): MailContent {
  const mail = composeMail('New help request', [
    'Someone needs help. Reply to this email, or read it in the console.',
    { label: 'Open the console', link: `${origin}/console/messages` },
    { typed: `Name: ${inOneLine(form.name)}\nEmail: ${form.email}\nTopic: ${form.topic}` },
    user ? 'They were signed in with this address.' : 'They were not signed in, so the address may not be theirs.',
    { typed: form.message },
  ])
  return { ...mail, replyTo: form.email }
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
