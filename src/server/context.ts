import type { Database } from '../../db/client.ts'
import { bindLog, type Log, type LogFields } from './log.ts'
import type { Cloud } from './ports/cloud.ts'
import type { Mailer } from './ports/mailer.ts'
import type { CounterCalls, HasherCalls, JobChannelCalls } from './ports/objects.ts'
import type { Payments } from './ports/payments.ts'
import type { Reach } from './ports/reach.ts'
import type { Config } from './settings.ts'

/** Everything a verb needs, built in one place and passed. */
export type Context = {
  db: Database
  /** ms since 1970, UTC */
  now: () => number
  /** In [0, 1): spreads what is tried again. */
  random: () => number
  cloud: Cloud
  payments: Payments
  mailer: Mailer
  reach: Reach
  channel: (userId: string) => JobChannelCalls
  /** One exact counter per name. */
  counter: (name: string) => CounterCalls
  /** Where passwords are hashed. */
  hasher: HasherCalls
  /** Goes on after the answer has left. */
  background: (work: Promise<unknown>) => void
  /** Knows the request, the trigger or the job. */
  log: Log
  config: Config
}

/** The same context for a part of the work: its lines in the log carry these fields. */
export function withLogFields(ctx: Context, fields: LogFields): Context {
  return { ...ctx, log: bindLog(ctx.log, fields) }
}

/** Where links in mails lead: configured, never what a request claims. */
export function siteOrigin(ctx: Pick<Context, 'config'>): string {
  return ctx.config.origins[0] ?? ''
}
