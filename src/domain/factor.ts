import * as v from 'valibot'
import { rule } from './form.ts'
import { DAY_MS } from './instant.ts'
import { characters, normalName, usableName } from './person.ts'

/** The rules of a second factor: a passkey (WebAuthn), a code from an authenticator app (RFC 6238), or a recovery code. */

/** An account gets this many recovery codes at a time. */
export const RECOVERY_CODES = 10
/** What most authenticator apps support, and nothing else: SHA-1, 6 digits, 30 seconds. */
export const TOTP_PERIOD_S = 30
/** How long a challenge, and an unconfirmed secret, are valid. */
export const CHALLENGE_MINUTES = 10
/** How many wrong codes end a challenge. */
export const CHALLENGE_TRIES = 5
/** How many passkeys an account may have. */
export const MAX_PASSKEYS = 20
export const MAX_PASSKEY_NAME = 50

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const FACTOR_REQUIRED = 'Enter a code from your authenticator app or a recovery code, or use your passkey.'
export const CODE_WRONG = 'This code is wrong or already used. Try the next one.'
export const CHALLENGE_OVER = 'This sign-in took too long, or had too many wrong codes. Please sign in again.'
export const TOTP_ON = 'Your authenticator app is set up. We signed you out on every other device.'
export const TOTP_ON_TOO = 'Your authenticator app is set up.'
export const TOTP_OFF = 'Your authenticator app is removed.'
export const HAS_TOTP = 'You already have an authenticator app. Remove it first.'
export const NO_TOTP = 'You have no authenticator app.'
export const CODES_NEED_FACTOR = 'Add a passkey or an authenticator app first. You get recovery codes with it.'
export const CODES_RENEWED = 'You have new recovery codes. The earlier ones no longer work.'
export const TOTP_NOT_STARTED =
  'Nothing to confirm: it took more than 10 minutes, or you confirmed it. Please start again.'
export const TOTP_CODE_WRONG =
  "This code doesn't match. Check the clock of your phone, and enter the code it shows now."
export const FACTOR_KEPT = 'Your second factor stays. We emailed you.'
export const NOTHING_TO_KEEP = 'No removal is pending.'
export const LINK_SENT = 'We emailed you a link. Open it within 10 minutes.'
export const LINK_NEEDED =
  'Admins add their first factor through a link that we email. This one is missing, used, or older than 10 minutes.'
export const PASSKEY_ADDED = 'Your passkey is added.'
export const FIRST_PASSKEY_ADDED = 'Your passkey is added. We signed you out on every other device.'
export const PASSKEY_REMOVED = 'The passkey is removed.'
export const NO_PASSKEY = 'This passkey is already removed.'
export const PASSKEY_TAKEN = 'This passkey is already in use. Choose another device or security key.'
export const TOO_MANY_PASSKEYS = `You have ${MAX_PASSKEYS} passkeys, the most an account can have. Remove one first.`
export const PASSKEY_WRONG = "We can't accept this passkey. Try again, or use another way."
export const PASSKEY_COPIED =
  'We refused this passkey: it may have been copied. Use another way to sign in, then remove it from your account.'
export const PASSKEY_WAITS =
  'You have a new password. Sign in with it and this passkey once. After that, the passkey alone is enough again.'
export const PASSKEY_OVER = 'This took too long or was already used. Please try again.'
export const PASSKEY_NEEDS_SCRIPT = 'Passkeys need JavaScript. Turn it on, or add an authenticator app.'
// Stryker restore StringLiteral

/** How long an operator's removal of a lost factor waits for an owner who still has it. */
export const REMOVAL_MS = DAY_MS

export const passkeyForm = v.pipe(
  v.object({ name: v.string() }),
  rule('name', (f) => normalName(f.name) !== '', 'Please enter a name for the passkey.'),
  rule(
    'name',
    (f) => characters(normalName(f.name)) <= MAX_PASSKEY_NAME,
    `Name cannot exceed ${MAX_PASSKEY_NAME} characters.`,
  ),
  rule('name', (f) => usableName(f.name), "Name contains characters we can't display."),
  v.transform((f) => ({ name: normalName(f.name) })),
)

/** How people can prove a second factor, in the order we offer them. */
export type FactorMethod = 'passkey' | 'totp' | 'recovery'

/** What a browser's passkey answered, as JSON. Only its check looks into it. */
export type PasskeyResponse = Record<string, unknown>

/** What a form or a call sends beside a password. A recovery code may come in either field. */
export type GivenFactor = {
  totp?: string | undefined
  recovery?: string | undefined
  passkey?: PasskeyResponse | null | undefined
}
export type Factor =
  | { method: Exclude<FactorMethod, 'passkey'>; code: string }
  | { method: 'passkey'; response: PasskeyResponse }

/** Six digits are an app's code; anything else is a recovery code. A passkey counts if no code was typed. Null if nothing was sent. */
export function readFactor({ totp = '', recovery = '', passkey }: GivenFactor): Factor | null {
  const code = totp.replaceAll(/\s/g, '')
  if (/^\d{6}$/.test(code)) return { method: 'totp', code }
  const other = normalRecoveryCode(recovery || totp)
  if (other) return { method: 'recovery', code: other }
  return passkey ? { method: 'passkey', response: passkey } : null
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
