import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import type { Caller } from '../limits/limits.ts'
import { networkOf } from '../limits/network.ts'
import type { Context } from '../runtime/context.ts'
import { SIGN_IN_LIFETIME_MS } from './live-sign-ins.ts'

/** What people see about a device in their list. */
export type Device = { userAgent: string | null; address: string | null }

/** What makes a browser known to an account. A new password or a first factor makes all browsers unknown again. */
export type Proved = { passwordHash: string; hasFactor: boolean }

export type SignedIn = { user: User; signIn: { id: string; expiresAt: number }; proved: Proved }

/** A sign-in's new ID, for the cookie. */
export type Renewed = { id: string; proved: Proved }

/** Where someone signs in from. */
export type Attempt = Caller & {
  /** This browser's id if the account knows it: its guesses and sign-ins are counted separately. Null: it has no marks. */
  knownDevice: ((email: string, proved: Proved) => string | null) | null
}

export function newSignIn(ctx: Pick<Context, 'now'>): SignedIn['signIn'] {
  return { id: newId('in'), expiresAt: ctx.now() + SIGN_IN_LIFETIME_MS }
}

/**
 * Inserts the sign-in, and emails its owner if it is from a new browser.
 * @param isNew whether this browser has never signed in to the account
 * @param whose an SQL condition on `users`
 */
export async function signInQueries(
  ctx: Context,
  row: SignedIn['signIn'],
  { userAgent, address }: Device,
  { isNew, whose }: { isNew: boolean; whose: SQL },
): Promise<[Query, ...Query[]]> {
  const now = ctx.now()
  const insert = ctx.db.run(sql`
    INSERT INTO sign_ins (id, user_id, created_at, last_seen_at, expires_at, user_agent, address, network, new_browser)
    SELECT ${row.id}, id, ${now}, ${now}, ${row.expiresAt}, ${userAgent}, ${address}, ${address && networkOf(address)}, ${isNew}
    FROM users WHERE ${whose}`)
  if (!isNew) return [insert]
  // Loaded when needed: people seldom use a new browser.
  const { newBrowserQuery } = await import('./new-browser.ts')
  return [insert, newBrowserQuery(ctx, row.id, { userAgent, address })]
}
