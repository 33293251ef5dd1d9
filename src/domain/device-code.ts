import { MINUTE_MS } from './instant.ts'
import { characters, normalName, usableName } from './person.ts'

/** Signing in a command line: RFC 8628, with the user code typed on our page /activate. */

/** How long the codes last. */
export const DEVICE_LOGIN_MS = 10 * MINUTE_MS
/** How often the program may poll. Each early poll adds the same again. */
export const POLL_EVERY_MS = 5_000
export const CLIENT_ID = 'proving-ground'
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** No vowels, so that it spells nothing, and no digits that look like letters. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const MAX_DEVICE_NAME = 40

/** @param pick a random integer from 0 up to, but not including, its argument */
export function newUserCode(pick: (below: number) => number): string {
  const four = () => Array.from({ length: 4 }, () => LETTERS.charAt(pick(LETTERS.length))).join('')
  return `${four()}-${four()}`
}

/** The code someone typed, however they wrote it; null if it can't be one. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[\s\p{Dash}]/gu, '')
  const isCode = letters.length === 8 && [...letters].every((letter) => LETTERS.includes(letter))
  return isCode ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null
}

/** What the program calls its computer, made safe to show. Nobody checks whether it is true. */
export function deviceName(text: string): string {
  const name = normalName(text)
  return name && usableName(name) && characters(name) <= MAX_DEVICE_NAME ? name : 'A computer'
}

/** A name for its token that no live token has. */
export function freeTokenName(device: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? device : `${device} (${n})`
    if (!taken.includes(name)) return name
  }
}
