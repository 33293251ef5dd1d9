import * as v from 'valibot'
import { rule } from './form.ts'
import { characters, normalName, usableName } from './person.ts'
import { CURRENT_PASSWORD_REQUIRED } from './user.ts'

/** `operate` includes `read`. */
const TOKEN_SCOPES = ['read', 'operate'] as const
export type TokenScope = (typeof TOKEN_SCOPES)[number]

export const DEFAULT_TOKEN_DAYS = 90
export const MAX_TOKEN_DAYS = 365
/** How many tokens an account may have at a time. */
export const MAX_TOKENS = 20
const MAX_TOKEN_NAME = 50

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const TOKEN_REVOKED = 'API token revoked.'
export const TOKEN_NAME_TAKEN = 'You already have an API token with this name.'
export const TOO_MANY_TOKENS = `You have ${MAX_TOKENS} API tokens, the most an account can have. Revoke one first.`
// Stryker restore StringLiteral

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6
/** 178 random bits. */
export const SECRET_LENGTH = 30
const SHAPE = new RegExp(`^pg_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * `pg_`, the secret, and a checksum: the CRC-32 of everything before it, as six base-62 digits. Lets scanners tell a
 * leaked token from any other text.
 * @param pick a random integer from 0 to below its argument
 */
export function newApiToken(pick: (below: number) => number): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => DIGITS.charAt(pick(DIGITS.length))).join('')
  return `pg_${secret}${checksum(`pg_${secret}`)}`
}

/** Whether the text can be an API token: its shape and its checksum are right. */
export function isApiToken(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}

/** The CRC-32 of zlib and PNG. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const char of text) {
    crc ^= char.charCodeAt(0)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

export const apiTokenForm = v.pipe(
  v.object({ name: v.string(), scope: v.string(), days: v.number(), current_password: v.string() }),
  rule('name', (f) => normalName(f.name) !== '', 'Please enter a name for the token.'),
  rule(
    'name',
    (f) => characters(normalName(f.name)) <= MAX_TOKEN_NAME,
    `Name cannot exceed ${MAX_TOKEN_NAME} characters.`,
  ),
  rule('name', (f) => usableName(f.name), "Name contains characters we can't display."),
  rule('scope', (f) => isScope(f.scope), 'Please choose what the token may do: read or operate.'),
  rule(
    'days',
    (f) => Number.isInteger(f.days) && f.days >= 1 && f.days <= MAX_TOKEN_DAYS,
    `A token can last from 1 to ${MAX_TOKEN_DAYS} days.`,
  ),
  rule('current_password', (f) => f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
  v.transform((f) => ({ ...f, name: normalName(f.name), scope: f.scope as TokenScope })),
)

export function isScope(scope: string): scope is TokenScope {
  return (TOKEN_SCOPES as readonly string[]).includes(scope)
}
