import { type Database, openDatabase } from '../../../db/client.ts'
import { fleetNetwork } from '../fleet/machine.ts'
import { reachBy } from '../fleet/reach.ts'
import { emailBinding } from '../mail/email-binding.ts'
import { FLEET, LINE } from '../ports/objects.ts'
import type { Env } from '../settings/env.ts'
import type { Log } from '../settings/log.ts'
import { readConfig } from '../settings/settings.ts'
import { areCountsDue, counted, countedFetch, writeCounts } from './calls.ts'
import type { Context } from './context.ts'
import { openObjects } from './objects.ts'
import { onDemand } from './on-demand.ts'

let database: { url: string; db: Database } | undefined

/** One client per isolate. It holds no connection, so that concurrent requests can share it. */
function sharedDatabase(env: Env): Database {
  if (database?.url !== env.LIBSQL_URL)
    database = { url: env.LIBSQL_URL, db: openDatabase(env.LIBSQL_URL, env.LIBSQL_AUTH_TOKEN, countedFetch) }
  return database.db
}

/**
 * @param own another database than the settings'
 * @throws unavailable if a setting is missing or malformed
 */
export async function createContext(
  env: Env,
  background: Context['background'],
  log: Log,
  own?: Database,
): Promise<Context> {
  const config = readConfig(env, log)
  const { files } = config
  const db = own ?? sharedDatabase(env)
  const now = await readClock(env)
  const objects = openObjects(env)
  const machine = config.door && env.FLEET ? fleetNetwork(env.FLEET) : null
  if (areCountsDue()) background(writeCounts({ db, log }, now()))
  return {
    db,
    now,
    random: Math.random,
    cloud: counted(
      'ec2',
      onDemand(async () => (await import('../fleet/ec2.ts')).ec2Cloud(env)),
    ),
    payments: counted(
      'stripe',
      onDemand(async () => (await import('../billing/stripe.ts')).stripePayments(env)),
    ),
    mailer: counted('mail', emailBinding(env)),
    bucket:
      files &&
      counted(
        'files',
        onDemand(async () => (await import('../files/s3-bucket.ts')).s3Bucket(files, now)),
      ),
    machine,
    reach: reachBy(machine),
    askStatus: async (...address) => (await import('../fleet/status.ts')).statusBy(machine)(...address),
    ...objects,
    fleetWatcher: objects.fleetWatcher(FLEET),
    lineKeeper: objects.fleetWatcher(LINE),
    postWebhook: async (...message) => (await import('../events/post.ts')).publicPost(config.local)(...message),
    // The answer is already sent, so a failure only reaches the log.
    background: (work) => background(work.catch((error) => log('background_failed', {}, error))),
    browser: '',
    log,
    config,
  }
}

/** The wall clock in ms since 1970. The local stack binds one that can be moved. */
async function readClock(env: Env): Promise<() => number> {
  if (!env.CLOCK) return Date.now
  const offset = Number(await (await env.CLOCK.fetch('http://clock/offset')).text())
  return () => Date.now() + offset
}
