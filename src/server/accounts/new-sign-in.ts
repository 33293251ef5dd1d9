import { type SQL, sql } from 'drizzle-orm'
import type { User } from '../../domain/wire.ts'
import { newId } from '../crypto/id.ts'
import { networkOf } from '../limits/network.ts'
import type { Context } from '../runtime/context.ts'
import { SIGN_IN_LIFETIME_MS } from './live-sign-ins.ts'

/** What people see about a device in their list. */
export type Device = { userAgent: string | null; address: string | null }

export type SignedIn = { user: User; signIn: { id: string; expiresAt: number } }

export function newSignIn(ctx: Pick<Context, 'now'>): SignedIn['signIn'] {
  return { id: newId('in'), expiresAt: ctx.now() + SIGN_IN_LIFETIME_MS }
}

/** @param whose an SQL condition on `users` */
export function signInQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  row: SignedIn['signIn'],
  { userAgent, address }: Device,
  whose: SQL,
) {
  const now = ctx.now()
  return ctx.db.run(sql`
    INSERT INTO sign_ins (id, user_id, created_at, last_seen_at, expires_at, user_agent, address, network)
    SELECT ${row.id}, id, ${now}, ${now}, ${row.expiresAt}, ${userAgent}, ${address}, ${address && networkOf(address)}
    FROM users WHERE ${whose}`)
}
