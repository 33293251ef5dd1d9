import type { User } from '../domain/wire.ts'
import type { Context } from './context.ts'
import type { Env } from './env.ts'

/** Who makes this request: the sign-in row that the cookie names, and its user. */
export type CurrentSignIn = { id: string; user: User; suspended: boolean; expiresAt: number }

/** What Hono hands to every handler. */
export type AppEnv = {
  Bindings: Env
  Variables: { ctx: Context; signIn: CurrentSignIn | null; requestId: string }
}
