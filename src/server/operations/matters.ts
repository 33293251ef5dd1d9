import { type SQL, sql } from 'drizzle-orm'
import { HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { isPastEnd } from '../fleet/jobs/ends.ts'
import { IS_FREE, isOfferedAt } from '../fleet/places.ts'
import { alertOnce, type Lasting } from '../mail/alerts.ts'
import type { Context } from '../runtime/context.ts'

/** More of one kind than this are a single cause, and one email shows enough of them. */
const AT_ONCE = 100
const SHOWN = 10
const MOST_TRIES = 5
const MOST_INVOICE_TRIES = 3
const STOPPING_MS = 10 * MINUTE_MS
/** The sweep comes each minute. */
const END_MISSED_MS = 3 * MINUTE_MS

type Kind = {
  matter: string
  /** Selects `id`, the oldest first. */
  query: (now: number) => SQL
  subject: (count: number) => string
  sentences: string[]
}

/** What the operator must know and the database shows. What only a vendor's answer shows raises its alert on the spot. */
const KINDS: Kind[] = [
  {
    matter: 'job_stuck',
    query: () => sql`SELECT id FROM jobs WHERE run_at IS NOT NULL AND attempts > ${MOST_TRIES} ORDER BY created_at`,
    subject: (count) => (count === 1 ? 'A job keeps failing' : `${count} jobs keep failing`),
    sentences: [
      `We tried a step of these jobs more than ${MOST_TRIES} times, and keep trying.`,
      'The log names the cause of each try: search it for job_step_failed and the job.',
    ],
  },
  {
    matter: 'run_stopping',
    query: (now) =>
      sql`SELECT id FROM server_sessions WHERE ended_at IS NULL AND stop_requested_at < ${now - STOPPING_MS} ORDER BY stop_requested_at`,
    subject: (count) => `${many(count, 'server')} won't stop`,
    sentences: [
      "We asked EC2 to end these more than 10 minutes ago, and it hasn't confirmed. The customer pays nothing, but we pay EC2, and the place stays reserved.",
      'Check the instance in the AWS console, and search the log for the run.',
    ],
  },
  {
    matter: 'end_missed',
    query: (now) => sql`SELECT id FROM server_sessions WHERE ended_at IS NULL AND stop_requested_at IS NULL
        AND ${isPastEnd(now - END_MISSED_MS)} ORDER BY requested_at`,
    subject: (count) => `${many(count, 'server')} outlived its end`,
    sentences: [
      'Their end has passed: the one their user set, or that of their trial. Neither their alarm nor the sweep stopped them. The customer pays nothing from then on, but we pay EC2.',
      'Search the log for alarm_failed and the user. In the console, the run has a button that stops it.',
    ],
  },
  {
    matter: 'mail_stuck',
    query: (now) =>
      sql`SELECT id FROM outbox WHERE send_at IS NOT NULL AND created_at < ${now - HOUR_MS} ORDER BY created_at`,
    subject: (count) => `${many(count, 'email')} couldn't be sent for an hour`,
    sentences: [
      "The mail service refuses them or doesn't answer. We retry for about a day and a half.",
      "The log says why (mail_failed). Check the sender's domain in Cloudflare's Email Service.",
    ],
  },
  {
    matter: 'mail_refused',
    query: (now) =>
      sql`SELECT 'send' AS id FROM call_counts WHERE system = 'mail' AND outcome = 'refused' AND last_at > ${now - HOUR_MS}`,
    subject: () => 'The mail service refused an email for good',
    sentences: [
      "It says that something in the email is wrong, such as the recipient's address. We don't retry.",
      "The log says what (mail_failed). If it isn't an address that someone typed, it may happen to every email.",
    ],
  },
  {
    matter: 'invoice_stuck',
    query: () =>
      sql`SELECT record_id AS id FROM invoices WHERE next_at IS NOT NULL AND step NOT IN ('sent', 'credited')
        AND attempts > ${MOST_INVOICE_TRIES} ORDER BY created_at`,
    subject: (count) => `${many(count, 'invoice')} couldn't be sent`,
    sentences: [
      `We tried a step of the invoices for these bills more than ${MOST_INVOICE_TRIES} times, and keep trying. Nobody is asked to pay them yet.`,
      'The log names the cause of each try: search it for invoice_step_failed and the bill.',
    ],
  },
  {
    matter: 'webhooks_failing',
    query: (now) => sql`SELECT bad.outcome AS id FROM call_counts bad
      LEFT JOIN call_counts good ON good.system = bad.system AND good.call = bad.call AND good.outcome = 'ok'
      WHERE bad.system = 'webhook' AND bad.outcome <> 'ok' AND bad.last_at > ${now - HOUR_MS}
      AND bad.last_at > coalesce(good.last_at, 0)`,
    subject: () => "We don't accept Stripe's webhooks",
    sentences: [
      'The latest call to /webhooks/stripe failed. Payments still count, because we also ask Stripe, but an hour later.',
      'refused: its signature was wrong. Compare STRIPE_WEBHOOK_SECRET with the endpoint in the Stripe dashboard, unless a stranger called. failed: the log names the cause (request_failed, /webhooks/stripe).',
    ],
  },
  {
    matter: 'no_free_place',
    query: (now) => sql`SELECT 'fleet' AS id WHERE EXISTS (SELECT 1 FROM servers)
      AND NOT EXISTS (SELECT 1 FROM servers WHERE ${IS_FREE} AND ${isOfferedAt(now)})`,
    subject: () => 'No free place: no server can start',
    sentences: [
      'Every place is reserved, set aside, drained, or retired.',
      'Add places with npm run fleet, after checking the vCPU quota with npm run doctor.',
    ],
  },
]

/** Emails the operator about what lasts too long. Run by cron, in one round trip while all is well. */
export async function watchMatters(ctx: Context): Promise<void> {
  const now = ctx.now()
  const [first, ...rest] = KINDS.map(({ query }) => ctx.db.all<{ id: string }>(sql`${query(now)} LIMIT ${AT_ONCE}`))
  const found = first ? await ctx.db.batch([first, ...rest]) : []
  for (const [i, kind] of KINDS.entries()) await alertOnce(ctx, toLasting(kind, found[i] ?? []))
}

function toLasting({ matter, subject, sentences }: Kind, rows: { id: string }[]): Lasting {
  return {
    matters: rows.map(({ id }) => `${matter}:${id}`),
    alert: (fresh) => {
      const ids = fresh.map((each) => each.slice(matter.length + 1))
      const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : ''
      const list = `${ids.slice(0, SHOWN).join(', ')}${more}.`
      return { subject: subject(ids.length), sentences: [...sentences, list], fields: { ids: ids.slice(0, SHOWN) } }
    },
  }
}

function many(count: number, thing: string): string {
  return count === 1 ? `A ${thing}`.replace(/^A (?=[aeio])/, 'An ') : `${count} ${thing}s`
}
