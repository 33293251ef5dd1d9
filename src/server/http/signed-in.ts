import type { Context as HonoContext } from 'hono'
import { issueSignInToken } from '../accounts/credentials/sign-in-token.ts'
import type { CurrentSignIn } from '../accounts/live-sign-ins.ts'
import type { Renewed, SignedIn } from '../accounts/new-sign-in.ts'
import { signOut } from '../accounts/sign-in.ts'
import type { AppEnv } from './app-env.ts'
import { writeCookie } from './cookies.ts'
import { rememberDevice } from './known-device.ts'
import { answer } from './reply.ts'
import { takeWayBack } from './way-back.ts'

/** Gives a new sign-in to this browser, and ends its previous one. */
export async function answerSignedIn(c: HonoContext<AppEnv>, { user, signIn, proved }: SignedIn): Promise<Response> {
  const { ctx, signIn: previous } = c.var
  writeCookie(c, 'sign_in', await issueSignInToken(ctx, signIn))
  rememberDevice(c, user.email, proved)
  if (previous) ctx.background(signOut(ctx, previous.user.id, previous.id))
  c.set('tokensFor', user.id)
  const page = takeWayBack(c, user) ?? '/dashboard'
  return answer(c, { user, page }, { to: page })
}

/** Gives this browser the cookie of its sign-in's new ID, if it got one, and keeps it known. */
export async function renewCookie(
  c: HonoContext<AppEnv>,
  { user, expiresAt }: CurrentSignIn,
  renewed: Renewed | null,
): Promise<void> {
  if (!renewed) return
  const { ctx } = c.var
  const token = await issueSignInToken(ctx, { id: renewed.id, expiresAt })
  rememberDevice(c, user.email, renewed.proved)
  writeCookie(c, 'sign_in', token, Math.floor((expiresAt - ctx.now()) / 1000))
}
