import { jwtVerify, SignJWT } from 'jose'
import type { Context } from '../../context.ts'
import { deriveKeys } from '../../keys.ts'

const ISSUER = 'proving-ground'
const AUDIENCE = 'proving-ground/site'
const TYPE = 'sign-in+jwt'

type TokenContext = Pick<Context, 'now' | 'config'>

/** The cookie's value: it names a row of `sign_ins`, which alone says whether it still counts. */
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

/** The id of the sign-in that a token names; null for every token that is not ours, not for this, or no longer. */
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
