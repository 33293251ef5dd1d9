import { afterEach, expect, onTestFinished, TestRunner } from 'vitest'
import type { Database } from '../../db/client.ts'
import { createApp } from '../../src/server/app.ts'
import type { Mail } from '../../src/server/ports/mailer.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { requestDescribed } from '../stack/described.ts'
import { memoryDatabase } from '../stack/memory-database.ts'
import { quickHasher } from '../stack/quick-hasher.ts'
import { recordLog } from '../stack/recorded-log.ts'
import { silent, testContext } from '../stack/test-context.ts'

export const ORIGIN = 'http://localhost:8787'

/** Of each test file: any delivery sends all waiting mail, and files share a worker. */
const databases = new Map<string | undefined, Database>()
function databaseOfFile(): Database {
  const { testPath } = expect.getState()
  const database = databases.get(testPath) ?? memoryDatabase()
  databases.set(testPath, database)
  return database
}

/**
 * A context with a real database, an adjustable clock, a list of sent mail, and a list of sign-ins whose sockets were
 * closed.
 */
export function accountContext() {
  const sent: Mail[] = []
  const disconnected: string[] = []
  const pending: Promise<unknown>[] = []
  const clock = { ms: 1_800_000_000_000 + Math.floor(Math.random() * 1e6) }
  const { log, takeLines } = recordLog()
  const ctx = testContext({
    db: databaseOfFile(),
    now: () => clock.ms,
    random: Math.random,
    mailer: { send: async (mail) => void sent.push(mail) },
    channel: () => ({
      ...silent,
      disconnect: async (ids) => void disconnected.push(...(ids === 'all' ? ['all'] : ids)),
    }),
    hasher: quickHasher,
    background: (work) => void pending.push(work),
    log,
    config: { origins: [ORIGIN], mailFrom: 'a@b.c', operatorEmail: 'op@b.c' },
  })
  const settle = () => Promise.all(pending.splice(0))
  // A delivery left running would take the next test's mail.
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await settle()))
  else afterEach(async () => void (await settle()))
  return { ctx, sent, disconnected, clock, settle, takeLines }
}

/** The whole app in this context, without bindings of the platform. */
export function accountApp(ctx: Context) {
  const app = createApp(ctx.log, async (c) => ({ ...ctx, log: c.var.log }))
  return {
    request: async (path: string, init: RequestInit = {}) =>
      requestDescribed(app, path, init, { SITE_ORIGINS: ORIGIN }),
  }
}
