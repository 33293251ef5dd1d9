import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { contactMessages } from '../../../db/schema.ts'
import { CONTACT_FAILED, contactForm } from '../../domain/contact.ts'
import { orElse } from '../../domain/error.ts'
import { type Context, siteOrigin } from '../context.ts'
import { requireValid } from '../form-rules.ts'
import { newId } from '../id.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { composeMail } from '../mails/mail-content.ts'
import { deliverMail, mailQuery } from './outbox.ts'

/** Keeps the message for the console, and tells the operator that there is one. */
export async function contactSales(ctx: Context, input: InferInput<typeof contactForm>, caller: Caller): Promise<void> {
  const form = requireValid(contactForm, input, { every: true })
  await limitCalls(ctx, 'contact', caller, form.email)
  const mail = composeMail('A message to sales', [
    'Somebody wrote to sales. The message waits in the console.',
    { label: 'Open the console', link: `${siteOrigin(ctx)}/console/messages` },
  ])
  await writeBatch(ctx.db, [
    ctx.db.insert(contactMessages).values({ id: newId('msg'), ...form, createdAt: ctx.now() }),
    mailQuery(ctx, ctx.config.operatorEmail, mail),
  ]).catch(orElse(CONTACT_FAILED))
  ctx.background(deliverMail(ctx))
}
