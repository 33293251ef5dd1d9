import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../../domain/error.ts'
import {
  CHALLENGE_OVER,
  FACTOR_REQUIRED,
  type GivenFactor,
  PASSKEY_NEEDS_SCRIPT,
  type PasskeyResponse,
} from '../../../../domain/factor.ts'
import { SecondFactor } from '../../../../pages/SecondFactor.tsx'
import { answerChallenge, findChallenge, waysToAnswer } from '../../../accounts/credentials/challenges.ts'
import { signInOptions, signInWithPasskey } from '../../../accounts/passkeys.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerOf, deviceOf } from '../../../http/caller.ts'
import { errorBody, statusOf } from '../../../http/error-response.ts'
import { isSeen, setFlash, takeFlash } from '../../../http/flash.ts'
import { attemptOf } from '../../../http/known-device.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import { answerSignedIn } from '../../../http/signed-in.ts'

type Call = HonoContext<AppEnv>

/** After the right password: sends a browser to the page that asks for the factor, and tells a program what it can send. */
export async function ask(c: Call, { challenge, userId }: { challenge: string; userId: string }): Promise<Response> {
  const page = `/sign_in/second_factor?${new URLSearchParams({ challenge })}`
  if (c.get('form')) return c.redirect(page, 303)
  const refusal = new AppError('second_factor_required', FACTOR_REQUIRED, { page })
  const ways = await waysToAnswer(c.var.ctx, userId, challenge)
  return c.json({ ...errorBody(refusal), ...ways, challenge }, statusOf(refusal))
}

/** Only the browser that typed the password sees it, so that nobody else learns who has a second factor. */
export async function page(c: Call): Promise<Response> {
  const challenge = c.req.query('challenge') ?? ''
  const found = await findChallenge(c.var.ctx, challenge)
  if (!found) {
    // The same as after signing in, for people who go back in their browser.
    if (c.var.signIn) return c.redirect('/dashboard')
    if (isSeen(c)) setFlash(c, { kind: 'danger', message: CHALLENGE_OVER })
    return c.redirect('/sign_in')
  }
  const ways = await waysToAnswer(c.var.ctx, found.userId, challenge)
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), challenge, ...ways }
  return renderPage(c, { title: 'Two-factor sign-in', assets: 'public' }, <SecondFactor {...form} />)
}

export async function finish(c: Call, given: { challenge: string } & GivenFactor): Promise<Response> {
  const signedIn = await answerChallenge(c.var.ctx, given, deviceOf(c), attemptOf(c))
  return answerSignedIn(c, signedIn)
}

export async function passkeyOptions(c: Call): Promise<Response> {
  return c.json(await signInOptions(c.var.ctx, callerOf(c)))
}

export async function finishWithPasskey(
  c: Call,
  { challenge, response }: { challenge: string; response: PasskeyResponse | null },
): Promise<Response> {
  if (!response) throw new AppError('invalid', PASSKEY_NEEDS_SCRIPT)
  const signedIn = await signInWithPasskey(c.var.ctx, { challenge, response }, deviceOf(c), attemptOf(c))
  return answerSignedIn(c, signedIn)
}
