import { and, eq, gt, inArray, isNotNull, isNull } from 'drizzle-orm'
import { createMiddleware } from 'hono/factory'
import { signIns, users } from '../../../db/schema.ts'
import type { AppEnv, CurrentSignIn } from '../app-env.ts'
import type { Context } from '../context.ts'
import { clearCookie, readCookie } from '../cookies.ts'
import { readSignInToken } from '../sign-in-token.ts'

const DAY_MS = 24 * 3600_000
/** A sign-in that nobody used for this long is over. */
export const IDLE_LIMIT_MS = DAY_MS
/** And in any case this long after it began. */
export const SIGN_IN_LIFETIME_MS = 14 * DAY_MS
/** Written down at most this often. */
const SEEN_EVERY_MS = 5 * 60_000

/** Who is asking: one signature and one read; without a cookie neither. A database that is down is an error, never "signed out". */
export const currentSignIn = createMiddleware<AppEnv>(async (c, next) => {
  const { ctx } = c.var
  c.set('signIn', null)
  const cookie = readCookie(c, 'sign_in')
  if (cookie) {
    const id = await readSignInToken(ctx, cookie)
    const found = id ? await findSignIn(ctx, id) : null
    if (!found) clearCookie(c, 'sign_in')
    else {
      c.set('signIn', found.signIn)
      const due = ctx.now() - found.lastSeenAt > SEEN_EVERY_MS
      if (due && isUse(c.req.method, c.req.path)) ctx.background(noteUse(ctx, found.signIn.id))
    }
  }
  await next()
})

/** The sign-in, if it still counts, and its user. */
export async function findSignIn(
  ctx: Pick<Context, 'db' | 'now'>,
  id: string,
): Promise<{ signIn: CurrentSignIn; lastSeenAt: number } | null> {
  const [row] = await ctx.db
    .select({
      id: signIns.id,
      expiresAt: signIns.expiresAt,
      lastSeenAt: signIns.lastSeenAt,
      user: { id: users.id, name: users.name, email: users.email, admin: users.admin },
      suspendedAt: users.suspendedAt,
    })
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(and(eq(signIns.id, id), stillCounts(ctx.now())))
  if (!row) return null
  const { user, expiresAt, lastSeenAt } = row
  return { signIn: { id: row.id, user, suspended: row.suspendedAt !== null, expiresAt }, lastSeenAt }
}

/** Which of these still count. */
export async function listLiveSignIns(ctx: Pick<Context, 'db' | 'now'>, ids: string[]): Promise<Set<string>> {
  const rows = await ctx.db
    .select({ id: signIns.id })
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(and(inArray(signIns.id, ids), stillCounts(ctx.now())))
  return new Set(rows.map((row) => row.id))
}

function stillCounts(now: number) {
  return and(
    isNull(signIns.revokedAt),
    gt(signIns.expiresAt, now),
    gt(signIns.lastSeenAt, now - IDLE_LIMIT_MS),
    isNotNull(users.confirmedAt),
    isNull(users.closedAt),
  )
}

/** A page that was opened or something that was done: not what an open page asks by itself, however long nobody looks at it. */
function isUse(method: string, path: string): boolean {
  if (path === '/cable' || path === '/api/v1/aws/check_server_ip_status') return false
  return method !== 'GET' || !path.startsWith('/api/')
}

async function noteUse(ctx: Pick<Context, 'db' | 'now'>, id: string): Promise<void> {
  await ctx.db.update(signIns).set({ lastSeenAt: ctx.now() }).where(eq(signIns.id, id))
}
