import { type Database, openDatabase } from '../../db/client.ts'
import { answered } from './answered.ts'
import { areCountsDue, counted, countedFetch, writeCounts } from './calls.ts'
import type { Context } from './context.ts'
import type { Env } from './env.ts'
import { FLEET } from './fleet/look.ts'
import { tcpReach } from './fleet/reach.ts'
import type { Log } from './log.ts'
import { emailBinding } from './mail/email-binding.ts'
import { onDemand } from './on-demand.ts'
import type { HasherCalls, JobChannelCalls } from './ports/objects.ts'
import { readConfig } from './settings.ts'

let database: { url: string; db: Database } | undefined

/** One client per isolate. It holds no connection, so that concurrent requests can share it. */
function sharedDatabase(env: Env): Database {
  if (database?.url !== env.LIBSQL_URL)
    database = { url: env.LIBSQL_URL, db: openDatabase(env.LIBSQL_URL, env.LIBSQL_AUTH_TOKEN, countedFetch) }
  return database.db
}

/** @throws unavailable if a setting is missing or malformed */
export async function createContext(env: Env, background: Context['background'], log: Log): Promise<Context> {
  const config = readConfig(env, log)
  const db = sharedDatabase(env)
  const now = await readClock(env)
  if (areCountsDue()) background(writeCounts({ db, log }, now()))
  return {
    db,
    now,
    random: Math.random,
    cloud: counted(
      'ec2',
      onDemand(async () => (await import('./fleet/ec2.ts')).ec2Cloud(env)),
    ),
    payments: counted(
      'stripe',
      onDemand(async () => (await import('./billing/stripe.ts')).stripePayments(env)),
    ),
    mailer: counted('mail', emailBinding(env)),
    reach: tcpReach,
    channel: (userId) => reachable(env.JOB_CHANNEL.getByName(userId)),
    fleetWatcher: { revive: (now) => answered(env.FLEET_WATCHER.getByName(FLEET).revive(now)) },
    eventSender: (userId) => ({ wake: (user) => answered(env.EVENT_SENDER.getByName(userId).wake(user)) }),
    postWebhook: async (...message) => (await import('./events/post.ts')).publicPost(config.local)(...message),
    counter: (name) => env.ATTEMPT_COUNTER.getByName(name),
    hasher: inTurn(env.PASSWORD_HASHER),
    // The answer is already sent, so a failure only reaches the log.
    background: (work) => background(work.catch((error) => log('background_failed', {}, error))),
    log,
    config,
  }
}

function reachable(channel: JobChannelCalls): JobChannelCalls {
  return {
    arm: (userId) => answered(channel.arm(userId)),
    wake: (userId) => answered(channel.wake(userId)),
    tellAccount: () => answered(channel.tellAccount()),
    disconnect: (signInIds) => answered(channel.disconnect(signInIds)),
  }
}

/** How many objects hash passwords. Each isolate takes turns among them, so that no queue fills up first. */
const HASHERS = 8
let turn: number | undefined

function inTurn(hashers: Env['PASSWORD_HASHER']): HasherCalls {
  return {
    derive(work) {
      turn = ((turn ?? Math.floor(Math.random() * HASHERS)) + 1) % HASHERS
      return answered(hashers.getByName(`hasher ${turn}`).derive(work))
    },
  }
}

/** The wall clock in ms since 1970. The local stack binds one that can be moved. */
async function readClock(env: Env): Promise<() => number> {
  if (!env.CLOCK) return Date.now
  const offset = Number(await (await env.CLOCK.fetch('http://clock/offset')).text())
  return () => Date.now() + offset
}
