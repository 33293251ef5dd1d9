import type { Door } from '../../domain/door.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { readSigned, sign } from '../signed-cookie.ts'
import type { Pass } from './access.ts'

/** The sign-in or the link that it names ends earlier, as a rule. */
const LIFETIME_MS = 30 * DAY_MS

type Content = Pass & { label: string }

/** Over https, the prefix keeps other hosts of the domain from setting it. */
export const cookieName = ({ scheme }: Pick<Door, 'scheme'>): string => (scheme === 'https' ? '__Host-door' : 'door')

/** For this one host. It ends with the browser, and whenever its pass does. */
export function passCookie(ctx: Context, door: Door, label: string, pass: Pass): string {
  const value = sign(ctx, 'door', { ...pass, label, expires: ctx.now() + LIFETIME_MS })
  return `${cookieName(door)}=${value}; Path=/; HttpOnly; SameSite=Lax${door.scheme === 'https' ? '; Secure' : ''}`
}

/** The pass in the request's cookies, if it is for this run. */
export function readPass(ctx: Context, door: Door, label: string, cookies: string | null): Pass | null {
  for (const cookie of (cookies ?? '').split(';')) {
    const [name = '', value = ''] = cookie.trim().split(/=(.*)/s)
    if (name !== cookieName(door)) continue
    const found = readSigned<Content>(ctx, 'door', value)
    if (found?.label === label) return { kind: found.kind, id: found.id }
  }
  return null
}
