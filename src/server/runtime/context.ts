import type { Database } from '../../../db/client.ts'
import type { Bucket } from '../ports/bucket.ts'
import type { Cloud } from '../ports/cloud.ts'
import type { Machine } from '../ports/machine.ts'
import type { Mailer } from '../ports/mailer.ts'
import type {
  CounterCalls,
  DoorCalls,
  EventSenderCalls,
  FleetWatcherCalls,
  HasherCalls,
  JobChannelCalls,
  RunLogCalls,
} from '../ports/objects.ts'
import type { Payments } from '../ports/payments.ts'
import type { AskStatus, Reach } from '../ports/reach.ts'
import type { PostWebhook } from '../ports/webhooks.ts'
import { bindLog, type Log, type LogFields } from '../settings/log.ts'
import type { Config } from '../settings/settings.ts'

/** Everything a verb needs, built in one place and passed along. */
export type Context = {
  db: Database
  /** ms since 1970, UTC */
  now: () => number
  /** In [0, 1), to spread out retries. */
  random: () => number
  cloud: Cloud
  payments: Payments
  mailer: Mailer
  /** Null without a bucket: then there are no files. */
  bucket: Bucket | null
  /** Null without a door: then only the internet leads to a machine. */
  machine: Machine | null
  reach: Reach
  askStatus: AskStatus
  channel: (userId: string) => JobChannelCalls
  fleetWatcher: FleetWatcherCalls
  /** The object that keeps the line moving. */
  lineKeeper: FleetWatcherCalls
  eventSender: (userId: string) => EventSenderCalls
  door: (userId: string) => DoorCalls
  runLog: (runId: string) => RunLogCalls
  postWebhook: PostWebhook
  /** One exact counter per name. */
  counter: (name: string) => CounterCalls
  hasher: HasherCalls
  /** Work that continues after the answer is sent. */
  background: (work: Promise<unknown>) => void
  /** The cookie of the browser that asks: what one began, no other finishes. Empty if none asks. */
  browser: string
  /** Bound to the request, the trigger or the job. */
  log: Log
  config: Config
}

/** The same context for part of the work: its log lines carry these fields. */
export function withLogFields(ctx: Context, fields: LogFields): Context {
  return { ...ctx, log: bindLog(ctx.log, fields) }
}

/** The origin for links in emails: from the settings, never from the request. */
export function siteOrigin(ctx: Pick<Context, 'config'>): string {
  return ctx.config.origins[0] ?? ''
}

/** Whether what a server saves in /data outlasts it: there are files, and machines can only be reached through their door. */
export function serversKeepFiles({ config }: Pick<Context, 'config'>): boolean {
  return Boolean(config.files && config.doorOnly)
}

/** Which servers have their user's files: a program that runs until exit publishes ports only behind a door. */
export function serversWithFiles(ctx: Pick<Context, 'config'>): 'all' | 'until_exit' | 'none' {
  if (serversKeepFiles(ctx)) return 'all'
  return ctx.config.files && !ctx.config.door ? 'until_exit' : 'none'
}

/** Our own hosts, which no webhook may call. */
export function siteHosts(ctx: Pick<Context, 'config'>): string[] {
  return ctx.config.origins.map((origin) => new URL(origin).hostname)
}
