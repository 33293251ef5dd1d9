import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { composed } from '../../../domain/person.ts'
import { busy } from '../../answered.ts'
import type { Derivation, HasherCalls } from '../../ports/objects.ts'

/** An OWASP-recommended setting that workerd allows (N·r·p ≤ 2²⁰), at 16 MiB. */
const COST = { N: 16384, r: 8, p: 5 }

/**
 * A valid hash at today's cost that matches no password. We compare with it if the address is unknown, so
 * that every sign-in costs one hash.
 */
const NOBODYS_HASH = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`

type PasswordContext = { hasher: HasherCalls; config: { passwordPepper: string } }

/** @throws unavailable when the queue is full */
export async function hashPassword(ctx: PasswordContext, password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(ctx, password, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), Buffer.from(key).toString('base64url')].join(
    '$',
  )
}

/**
 * Always costs exactly one hash. `stored` is null if there is no account.
 * @throws unavailable when the queue is full
 */
export async function verifyPassword(ctx: PasswordContext, password: string, stored: string | null): Promise<boolean> {
  const { cost, salt, key } = parse(stored ?? NOBODYS_HASH)
  const same = timingSafeEqual(await derive(ctx, password, salt, cost), key)
  return same && stored !== null
}

export function needsRehash(stored: string): boolean {
  const { cost } = parse(stored)
  return cost.N !== COST.N || cost.r !== COST.r || cost.p !== COST.p
}

function parse(stored: string) {
  const [kind, N, r, p, salt, key] = stored.split('$')
  if (kind !== 'scrypt' || !salt || !key) throw new Error('A stored password hash is not readable')
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

async function derive(ctx: PasswordContext, password: string, salt: Buffer, cost: Derivation['cost']) {
  // Two keyboards may compose the same password's characters differently.
  const secret = createHmac('sha256', ctx.config.passwordPepper).update(composed(password)).digest()
  const key = await ctx.hasher.derive({ secret: new Uint8Array(secret), salt: new Uint8Array(salt), cost })
  if (key) return key
  throw busy()
}
