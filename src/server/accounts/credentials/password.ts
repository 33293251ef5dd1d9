import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { composed } from '../../../domain/person.ts'
import type { Derivation, HasherCalls } from '../../ports/objects.ts'
import { busy } from '../../runtime/answered.ts'

/** An OWASP-recommended setting that workerd allows (N·r·p ≤ 2²⁰), at 16 MiB. */
const COST = { N: 16384, r: 8, p: 5 }

/**
 * A valid hash at today's cost that matches no password. We compare with it if the address is unknown, so
 * that every sign-in costs one hash.
 */
const NOBODYS_HASH = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`

type PasswordContext = { hasher: HasherCalls; config: { passwordPepper: string } }

/** @throws unavailable when the queue is full */
export async function hashPassword(
  ctx: PasswordContext,
  password: string,
  salt: Buffer = randomBytes(16),
): Promise<string> {
  const [pepper] = peppersOf(ctx)
  const key = await derive(ctx, pepper, password, salt, COST)
  const texts = [salt, Buffer.from(key)].map((bytes) => bytes.toString('base64url'))
  return ['scrypt', COST.N, COST.r, COST.p, ...texts, idOf(pepper)].join('$')
}

/** Hashes the same password again, at today's cost and with the newest pepper. */
export function renewHash(ctx: PasswordContext, password: string, stored: string): Promise<string> {
  return hashPassword(ctx, password, Buffer.from(saltOf(stored), 'base64url'))
}

/** Identifies the password, and stays the same when its hash is renewed. */
export function saltOf(stored: string): string {
  return stored.split('$')[4] ?? ''
}

/**
 * Always costs exactly one hash. `stored` is null if there is no account.
 * @throws unavailable when the queue is full
 */
export async function verifyPassword(ctx: PasswordContext, password: string, stored: string | null): Promise<boolean> {
  const { cost, salt, key, pepperId } = parse(stored ?? NOBODYS_HASH)
  const same = timingSafeEqual(await derive(ctx, pepperBehind(ctx, pepperId), password, salt, cost), key)
  return same && stored !== null
}

/** An old cost, or an old pepper while PASSWORD_PEPPER is rotated. */
export function needsRehash(ctx: Pick<PasswordContext, 'config'>, stored: string): boolean {
  const { cost, pepperId } = parse(stored)
  return (
    cost.N !== COST.N || cost.r !== COST.r || cost.p !== COST.p || pepperBehind(ctx, pepperId) !== peppersOf(ctx)[0]
  )
}

/** Newest first: hash with the first, accept any. */
const peppersOf = ({ config }: Pick<PasswordContext, 'config'>) =>
  config.passwordPepper.split(',') as [string, ...string[]]

/** Stored with a hash, so that checking it costs one hash however many peppers there are. It reveals nothing. */
const idOf = (pepper: string) => createHmac('sha256', pepper).update('id').digest('base64url').slice(0, 8)

/** Hashes from before the first rotation name no pepper: theirs is the oldest. An unknown one matches nothing. */
function pepperBehind(ctx: Pick<PasswordContext, 'config'>, id: string | undefined): string {
  const peppers = peppersOf(ctx)
  const found = id === undefined ? peppers.at(-1) : peppers.find((pepper) => idOf(pepper) === id)
  return found ?? peppers[0]
}

function parse(stored: string) {
  const [kind, N, r, p, salt, key, pepperId] = stored.split('$')
  if (kind !== 'scrypt' || !salt || !key) throw new Error('A stored password hash is not readable')
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
    pepperId,
  }
}

async function derive(ctx: PasswordContext, pepper: string, password: string, salt: Buffer, cost: Derivation['cost']) {
  // Two keyboards may compose the same password's characters differently.
  const secret = createHmac('sha256', pepper).update(composed(password)).digest()
  const key = await ctx.hasher.derive({ secret: new Uint8Array(secret), salt: new Uint8Array(salt), cost })
  if (key) return key
  throw busy()
}
