import type { Database } from '../../db/client.ts'
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
  config: Config
}

/** Where links in mails lead: configured, never what a request claims. */
export function siteOrigin(ctx: Pick<Context, 'config'>): string {
  return ctx.config.origins[0] ?? ''
}
