import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/client.ts'
import { apiTokens, signIns, users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import { DIST } from '../../dev/stack.ts'
import { newApiToken, type TokenScope } from '../../src/domain/api-token.ts'
import { hashApiToken } from '../../src/server/accounts/api-tokens.ts'
import { issueSignInToken } from '../../src/server/accounts/credentials/sign-in-token.ts'
import { createApp } from '../../src/server/app.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { issueToken, newBrowserId } from '../../src/server/http/csrf-token.ts'
import type { Mail } from '../../src/server/ports/mailer.ts'
import { createContext } from '../../src/server/runtime/create-context.ts'
import type { Env } from '../../src/server/settings/env.ts'
import { atEnd } from './at-end.ts'
import { memoryCounters } from './counters.ts'
import { requestDescribed } from './described.ts'
import { MACHINES } from './machine-settings.ts'
import { memoryDatabase } from './memory-database.ts'
import { noLog } from './no-log.ts'
import { quickHasher } from './quick-hasher.ts'
import { recordLog } from './recorded-log.ts'
import { silent } from './test-context.ts'

export const SITE = 'http://localhost:8787'
const SECRET = 'a-secret-of-thirty-two-characters-or-more'
const NOTHING_ANSWERS = 'http://127.0.0.1:1'

/** Stands for the database in this process. A site with another address really calls that. */
const IN_MEMORY = 'http://in-memory.localhost'

/** The database of the test file that runs now. */
let opened: (Database & { url: string }) | null = null
function fileDatabase() {
  if (opened) return opened
  atEnd(() => {
    opened = null
  })
  opened = Object.assign(memoryDatabase(), { url: IN_MEMORY })
  return opened
}

/** Settings that switch the files on. */
export const BUCKET = {
  FILES_ENDPOINT: NOTHING_ANSWERS,
  FILES_BUCKET: 'bucket',
  FILES_ACCESS_KEY_ID: 'id',
  FILES_SECRET_ACCESS_KEY: 'key',
}

/** Whose sign-in a cookie is; sites of one file share their people. */
const people = new Map<string, string>()

export type Role = 'visitor' | 'unconfirmed' | 'user' | 'suspended' | 'admin'

/** The whole app as deployed, called in this process, on this file's own database, which is in this process as well. */
export async function openSite(overrides: Partial<Env> = {}, database = fileDatabase()) {
  const pending: Promise<unknown>[] = []
  const settle = () => Promise.allSettled(pending.splice(0))
  atEnd(settle)
  const mails: (Mail & { from: string })[] = []
  /** Whose open pages heard that their account changed. */
  const told: string[] = []
  const env = {
    SITE_ORIGINS: SITE,
    SECRET_KEY: SECRET,
    PASSWORD_PEPPER: 'pepper',
    LIBSQL_URL: database.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
    ...MACHINES,
    EC2_LAUNCH_TEMPLATE: 'template',
    EC2_ENDPOINT: NOTHING_ANSWERS,
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: NOTHING_ANSWERS,
    METRICS_TOKEN: 'a-token-of-thirty-two-characters-or-more',
    MAIL_FROM: 'hello@example.com',
    OPERATOR_EMAIL: 'operator@example.com',
    EMAIL: { send: async (mail: (typeof mails)[number]) => mails.push(mail) },
    ASSETS: { fetch: async (address: string) => builtFile(new URL(address).pathname) },
    ATTEMPT_COUNTER: { getByName: memoryCounters() },
    PASSWORD_HASHER: { getByName: () => quickHasher },
    JOB_CHANNEL: {
      getByName: (userId: string) => ({
        ...silent,
        tellAccount: async () => void told.push(userId),
        tellServer: async () => void told.push(userId),
        tellLine: async () => void told.push(userId),
      }),
    },
    FLEET_WATCHER: { getByName: () => ({ arm: async () => {}, wake: async () => {}, revive: async () => {} }) },
    // Nobody's access ends here.
    DOOR_KEEPER: { getByName: () => ({ recheck: async () => {}, fetch: () => new Promise(() => {}) }) },
    RUN_LOG: { getByName: () => noLog },
    EVENT_SENDER: { getByName: () => ({ wake: async () => {} }) },
    ...overrides,
  } as unknown as Env
  const { log, takeLines } = recordLog()
  const app = createApp(log, (c) => {
    const own = c.env.LIBSQL_URL === IN_MEMORY ? database : undefined
    return createContext(c.env, (work) => c.executionCtx.waitUntil(work), c.var.log, own)
  })
  const execution = {
    waitUntil: (work: Promise<unknown>) => pending.push(work),
    passThroughOnException() {},
    props: {},
  }

  return {
    env,
    db: database,
    mails,
    told,
    settle,
    takeLines,
    request: async (path: string, init: RequestInit = {}) => requestDescribed(app, path, init, env, execution),
    /** A new person of this role, and the cookie of their sign-in; none for a visitor. */
    async signInAs(role: Role): Promise<{ userId: string; signInId: string; cookie: string }> {
      if (role === 'visitor') return { userId: '', signInId: '', cookie: '' }
      const [userId, signInId, now] = [newId('user'), newId('in'), Date.now()]
      await database.insert(users).values({
        id: userId,
        email: `${userId.toLowerCase()}@example.com`,
        name: role,
        passwordHash: `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`,
        admin: role === 'admin',
        confirmedAt: role === 'unconfirmed' ? null : now,
        suspendedAt: role === 'suspended' ? now : null,
        createdAt: now,
      })
      const expiresAt = now + 3_600_000
      await database.insert(signIns).values({ id: signInId, userId, createdAt: now, lastSeenAt: now, expiresAt })
      const token = await issueSignInToken(
        { now: Date.now, config: { secretKey: SECRET } } as Parameters<typeof issueSignInToken>[0],
        { id: signInId, expiresAt },
      )
      const cookie = `sign_in=${token}`
      people.set(cookie, userId)
      return { userId, signInId, cookie }
    },
    /** Without a plan, people may start servers only if they had one, or a trial, before. */
    async giveEndedTrial(userId: string): Promise<void> {
      const now = Date.now()
      const trial = {
        planType: 'demo',
        subType: 'demo',
        status: 'trialing',
        anchor: now - 2,
        createdAt: now - 2,
      } as const
      await database.insert(plans).values({ id: newId('sub'), userId, ...trial, endedAt: now - 1 })
    },
    /** An API token of this person, as its row and its header. */
    async tokenOf(userId: string, scope: TokenScope, row: Partial<typeof apiTokens.$inferInsert> = {}) {
      const [id, token, now] = [newId('tok'), newApiToken(randomInt), Date.now()]
      const kept = {
        id,
        hash: hashApiToken(token),
        userId,
        name: id,
        scope,
        createdAt: now,
        expiresAt: now + 3_600_000,
      }
      await database.insert(apiTokens).values({ ...kept, ...row })
      return { id, token, headers: { Authorization: `Bearer ${token}` } }
    },
    findUser: async (id: string) => (await database.select().from(users).where(eq(users.id, id)))[0],
  }
}

/** The build's files for browsers. */
function builtFile(path: string): Response {
  const file = join(DIST, 'client', path)
  return existsSync(file) ? new Response(readFileSync(file)) : new Response('', { status: 404 })
}

export type Site = Awaited<ReturnType<typeof openSite>>

/** What our own page has for its calls: the browser's cookies and the matching token. */
export async function openPage(site: Site, cookie = ''): Promise<{ cookie: string; token: string }> {
  const page = await site.request('/confirm_email', { headers: { Cookie: cookie } })
  const browser =
    page.headers
      .getSetCookie()
      .find((line) => line.startsWith('browser='))
      ?.split(';')[0] ?? ''
  const token = /name="csrf-token" content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  return { cookie: [cookie, browser].filter(Boolean).join('; '), token }
}

/** One browser's for every change: rendering a page for each took half of their time. */
const BROWSER_ID = newBrowserId()

/** A change, requested as the pages of this person do. */
export async function change(site: Site, method: string, path: string, cookie: string, body: unknown = {}) {
  return site.request(path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-CSRF-Token': issueToken(SECRET, BROWSER_ID, people.get(cookie) ?? null),
      Cookie: [`browser=${BROWSER_ID}`, cookie].filter(Boolean).join('; '),
    },
    body: JSON.stringify(body),
  })
}
