import { eq } from 'drizzle-orm'
import { outbox } from '../../db/schema/mail.ts'
import { alerts } from '../../db/schema/operations.ts'
import type { World } from '../world/world.ts'

/** What the operator was alerted about, and the subjects of their mails. */
export async function alertsOf({ db, ctx }: World): Promise<{ matters: string[]; mails: string[] }> {
  const told = await db.select().from(alerts)
  const mails = await db.select().from(outbox).where(eq(outbox.recipient, ctx.config.operatorEmail))
  return { matters: told.map(({ matter }) => matter).sort(), mails: mails.map(({ subject }) => subject) }
}
