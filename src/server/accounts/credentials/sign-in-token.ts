import { jwtVerify, SignJWT } from 'jose'
import { deriveKeys } from '../../crypto/keys.ts'
import type { Context } from '../../runtime/context.ts'

const ISSUER = 'proving-ground'
const AUDIENCE = 'proving-ground/site'
const TYPE = 'sign-in+jwt'

type TokenContext = Pick<Context, 'now' | 'config'>

/** The cookie's value. It names a row of `sign_ins`, and only that row decides whether the sign-in is valid. */
export function issueSignInToken(ctx: TokenContext, signIn: { id: string; expiresAt: number }): Promise<string> {
  const [newest] = deriveKeys(ctx.config.secretKey, 'sign-in')
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: TYPE, kid: newest.id })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setJti(signIn.id)
    .setIssuedAt(Math.floor(ctx.now() / 1000))
    .setExpirationTime(Math.floor(signIn.expiresAt / 1000))
    .sign(newest.key)
}

/**
 * The id of the sign-in that a token names; null if the token isn't ours, serves another purpose or has
 * expired.
 */
export async function readSignInToken(ctx: TokenContext, token: string): Promise<string | null> {
  const keys = deriveKeys(ctx.config.secretKey, 'sign-in')
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.find(({ id }) => id === kid)
        if (!key) throw new Error('unknown key id')
        return key.key
      },
      {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: TYPE,
        requiredClaims: ['jti', 'iat', 'exp'],
        currentDate: new Date(ctx.now()),
      },
    )
    return payload.jti ?? null
  } catch {
    return null
  }
}
