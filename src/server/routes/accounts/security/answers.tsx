import type { Context as HonoContext } from 'hono'
import { deviceName } from '../../../../domain/device-name.ts'
import { AppError } from '../../../../domain/error.ts'
import {
  CODES_RENEWED,
  FACTOR_KEPT,
  FIRST_PASSKEY_ADDED,
  LINK_SENT,
  PASSKEY_ADDED,
  PASSKEY_NEEDS_SCRIPT,
  PASSKEY_REMOVED,
  type PasskeyResponse,
  TOTP_OFF,
  TOTP_ON,
  TOTP_ON_TOO,
} from '../../../../domain/factor.ts'
import { toIso } from '../../../../domain/instant.ts'
import { AccountSecurity, type SecurityProps } from '../../../../pages/AccountSecurity.tsx'
import { listApiTokens } from '../../../accounts/api-tokens.ts'
import type { Proof } from '../../../accounts/credentials/current-password.ts'
import { confirmOptions } from '../../../accounts/credentials/passkeys.ts'
import { getFactors } from '../../../accounts/credentials/second-factor.ts'
import type { NewTotp } from '../../../accounts/credentials/totp.ts'
import { findRemoval, keepFactor } from '../../../accounts/keep-factor.ts'
import * as passkeys from '../../../accounts/passkeys.ts'
import {
  confirmTotp,
  findNewTotp,
  mailFactorLink,
  needsLink,
  removeTotp,
  renewRecoveryCodes,
  startTotp,
} from '../../../accounts/second-factors.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { statusOf } from '../../../http/error-response.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import { answer } from '../../../http/reply.ts'
import { renewCookie } from '../../../http/signed-in.ts'

type Call = HonoContext<AppEnv>

export async function page(c: Call): Promise<Response> {
  return show(c, { flash: takeFlash(c) })
}

/** A form's answer is the page itself, not a redirect: only it shows secrets that nobody sees again. */
async function show(
  c: Call,
  shown: Partial<Pick<SecurityProps, 'flash' | 'started' | 'codes'>>,
  status: Parameters<typeof renderPage>[3] = 200,
): Promise<Response> {
  const { id } = signedIn(c).user
  const { ctx } = c.var
  const [factors, removal, { length: tokens }] = await Promise.all([
    getFactors(ctx, id),
    findRemoval(ctx, id),
    listApiTokens(ctx, id),
  ])
  const form = { csrfToken: csrfToken(c), flash: null, started: null, codes: null }
  // Right after adding one, the sign-in of this request still has none.
  const hasFactor = factors.totp !== null || factors.passkeys.length > 0
  const link = needsLink(ctx, { ...signedIn(c), hasFactor }) ? (c.req.query('link') ?? '') : null
  const device = deviceName(c.req.header('User-Agent') ?? null)
  const props = { ...form, link, tokens, device, removal_at: toIso(removal), ...factors, ...shown }
  const assets = shown.started || shown.codes ? 'secrets' : 'settings'
  return renderPage(c, { title: 'Two-factor sign-in', assets }, <AccountSecurity {...props} />, status)
}

export async function mailLink(c: Call): Promise<Response> {
  await mailFactorLink(c.var.ctx, signedIn(c))
  return answer(c, { message: LINK_SENT })
}

export async function keep(c: Call): Promise<Response> {
  await keepFactor(c.var.ctx, signedIn(c).user)
  return answer(c, { message: FACTOR_KEPT })
}

export async function start(c: Call, proof: Proof & { link: string }): Promise<Response> {
  const started = await startTotp(c.var.ctx, signedIn(c), proof)
  return c.get('form') ? show(c, { started: await withQr(started) }) : c.json(started)
}

export async function confirm(c: Call, code: string): Promise<Response> {
  const { ctx } = c.var
  try {
    const { codes, renewed } = await confirmTotp(ctx, signedIn(c), code)
    await renewCookie(c, signedIn(c), renewed)
    if (!c.get('form')) return c.json({ recovery_codes: codes })
    return show(c, codes.length ? { codes: { codes, message: TOTP_ON } } : succeeded(TOTP_ON_TOO))
  } catch (error) {
    const isMistyped = error instanceof AppError && error.code === 'invalid_code'
    const started = isMistyped && c.get('form') ? await findNewTotp(ctx, signedIn(c)) : null
    if (!started || !isMistyped) throw error
    const flash = { kind: 'danger' as const, message: error.message, field: error.field }
    return show(c, { flash, started: await withQr(started) }, statusOf(error))
  }
}

export async function remove(c: Call, proof: Proof): Promise<Response> {
  await removeTotp(c.var.ctx, signedIn(c).user, proof)
  return answer(c, { message: TOTP_OFF })
}

export async function renewCodes(c: Call, proof: Proof): Promise<Response> {
  const codes = await renewRecoveryCodes(c.var.ctx, signedIn(c).user, proof)
  return c.get('form') ? show(c, { codes: { codes, message: CODES_RENEWED } }) : c.json({ recovery_codes: codes })
}

const succeeded = (message: string) => ({ flash: { kind: 'success' as const, message } })

export async function startPasskey(c: Call, proof: Proof & { link: string }): Promise<Response> {
  return c.json({ options: await passkeys.startPasskey(c.var.ctx, signedIn(c), proof) })
}

export async function addPasskey(
  c: Call,
  { name, response }: { name: string; response: PasskeyResponse | null },
): Promise<Response> {
  if (!response) throw new AppError('invalid', PASSKEY_NEEDS_SCRIPT)
  const { passkey, codes, renewed } = await passkeys.addPasskey(c.var.ctx, signedIn(c), { name, response })
  await renewCookie(c, signedIn(c), renewed)
  if (!c.get('form')) return c.json({ ...passkey, recovery_codes: codes }, 201)
  return show(c, codes.length ? { codes: { codes, message: FIRST_PASSKEY_ADDED } } : succeeded(PASSKEY_ADDED))
}

export async function confirmWithPasskey(c: Call, verified: boolean): Promise<Response> {
  return c.json({ options: await confirmOptions(c.var.ctx, signedIn(c).user.id, verified) })
}

export async function removePasskey(c: Call, id: string, proof: Proof): Promise<Response> {
  await passkeys.removePasskey(c.var.ctx, signedIn(c).user, id, proof)
  return answer(c, { message: PASSKEY_REMOVED })
}

/** Adds the QR code that a phone's camera reads. */
async function withQr(started: NewTotp) {
  const { default: encodeQR } = await import('qr')
  return { ...started, qr: encodeQR(started.uri, 'raw', { border: 4 }) }
}
