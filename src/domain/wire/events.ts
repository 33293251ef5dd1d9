import * as z from 'zod/mini'
import { MAIL_KINDS, type MailKind, NOTICE_KINDS } from '../notice.ts'
import { EVENT_TYPES, type EventType } from '../webhook.ts'
import { instant } from './fields.ts'

/** What a person finds under the bell. `link` is a path of ours, or an invoice at Stripe. */
export const notice = z.object({
  id: z.string(),
  kind: z.enum(NOTICE_KINDS),
  at: instant,
  title: z.string(),
  text: z.string(),
  link: z.nullable(z.string()),
  label: z.nullable(z.string()),
  read: z.boolean(),
})
export type Notice = z.infer<typeof notice>

export const mails = z.object(
  Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, z.boolean()])) as Record<MailKind, z.ZodMiniBoolean>,
)

/** Where a user's events go. */
export const webhook = z.object({
  id: z.string(),
  url: z.url(),
  events: z.array(z.enum(EVENT_TYPES)),
  created_at: instant,
  /** `failing`: an event waits for another try. `off`: we switched it off. */
  status: z.enum(['on', 'failing', 'off']),
  /** Null while it isn't off. `gone`: it answered 410. */
  off_because: z.nullable(z.enum(['failing', 'gone'])),
  /** When it last accepted an event. */
  answered_at: z.nullable(instant),
})
export type Webhook = z.infer<typeof webhook>

/** One event for one webhook. */
export type Delivery = {
  /** The same for every webhook and every try. */
  event_id: string
  type: EventType | 'webhook.test'
  created_at: string
  attempts: number
  tried_at: string | null
  /** Null once accepted or given up. */
  next_try_at: string | null
  taken: boolean
  /** The HTTP status of the last answer; null without one. `answer` then says why. */
  status: number | null
  answer: string | null
  /** The body that we send. */
  payload: string
}
