import { DAY_MS } from './instant.ts'

/** The rules of a second factor: a code from an authenticator app (RFC 6238), or a recovery code. */

/** An account gets this many recovery codes at a time. */
export const RECOVERY_CODES = 10
/** What most authenticator apps support, and nothing else: SHA-1, 6 digits, 30 seconds. */
export const TOTP_PERIOD_S = 30
/** How long a challenge, and a secret that nobody has confirmed yet, are good. */
export const CHALLENGE_MINUTES = 10
/** How many wrong codes end a challenge. */
export const CHALLENGE_TRIES = 5

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const FACTOR_REQUIRED = 'Enter a code from your authenticator app, or a recovery code.'
export const CODE_WRONG = 'This code is wrong, or it was used before. Try the next one.'
export const CHALLENGE_OVER = 'This sign-in took too long, or had too many wrong codes. Please sign in again.'
export const TOTP_ON = 'Your authenticator app is set up. We signed you out on every other device.'
export const TOTP_OFF = 'Your authenticator app is removed.'
export const HAS_TOTP = 'You already have an authenticator app. Remove it first.'
export const NO_TOTP = 'You have no authenticator app.'
export const CODES_NEED_FACTOR = 'Add an authenticator app first. You get recovery codes with it.'
export const CODES_RENEWED = 'You have new recovery codes. The earlier ones no longer work.'
export const TOTP_NOT_STARTED =
  'Nothing to confirm: it took more than 10 minutes, or you confirmed it. Please start again.'
export const TOTP_CODE_WRONG =
  "This code doesn't match. Check the clock of your phone, and enter the code it shows now."
export const FACTOR_KEPT = 'Your second factor stays. We emailed you.'
export const NOTHING_TO_KEEP = 'Nobody is removing your second factor.'
export const LINK_SENT = 'We emailed you a link. Open it within 10 minutes.'
export const LINK_NEEDED =
  'Admins add their first factor through a link that we email. This one is missing, used, or older than 10 minutes.'
// Stryker restore StringLiteral

/** How long an operator's removal of a lost factor waits for an owner who still has it. */
export const REMOVAL_MS = DAY_MS

/** How people can prove a second factor, in the order we offer them. */
export type FactorMethod = 'totp' | 'recovery'

/** What a form or a call sends beside a password. A recovery code may come in either. */
export type GivenFactor = { totp?: string | undefined; recovery?: string | undefined }
export type Factor = { method: FactorMethod; code: string }

/** Six digits are a code of an app; anything else is a recovery code. Null if nothing was sent. */
export function readFactor({ totp = '', recovery = '' }: GivenFactor): Factor | null {
  const code = totp.replaceAll(/\s/g, '')
  if (/^\d{6}$/.test(code)) return { method: 'totp', code }
  const other = normalRecoveryCode(recovery || totp)
  return other ? { method: 'recovery', code: other } : null
}

/** Crockford's alphabet: no letter looks like a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const GROUPS = 4
const GROUP = 6

/**
 * 120 random bits, so that a fast hash keeps it safe. In groups, because people type it.
 * @param random an integer below its argument
 */
export function newRecoveryCode(random: (below: number) => number): string {
  const group = () => Array.from({ length: GROUP }, () => ALPHABET[random(ALPHABET.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** As we hash it, however it was typed. */
export function normalRecoveryCode(typed: string): string {
  return typed
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
}
