import { createHash } from 'node:crypto'
import type { Rate } from '../../domain/attempts.ts'
import { AppError } from '../../domain/error.ts'
import { answered } from '../answered.ts'
import type { Context } from '../context.ts'
import { networkOf } from './network.ts'

/** Who asks, as far as the network tells; null when it does not, as on a machine of one's own. */
export type Caller = { address: string | null }

const HOUR_MS = 3_600_000

/** Whom each call is limited by: the mail address that it is about, where it comes from, and that network as a whole. */
const RATES = {
  sign_in: { address: { count: 60, perMs: HOUR_MS / 4 }, network: { count: 300, perMs: HOUR_MS / 4 } },
  sign_up: {
    email: { count: 5, perMs: HOUR_MS },
    address: { count: 20, perMs: HOUR_MS },
    network: { count: 100, perMs: HOUR_MS },
  },
  resend: {
    email: { count: 5, perMs: HOUR_MS },
    address: { count: 20, perMs: HOUR_MS },
    network: { count: 100, perMs: HOUR_MS },
  },
  reset: {
    email: { count: 5, perMs: HOUR_MS },
    address: { count: 20, perMs: HOUR_MS },
    network: { count: 100, perMs: HOUR_MS },
  },
  contact: {
    email: { count: 5, perMs: HOUR_MS },
    address: { count: 10, perMs: HOUR_MS },
    network: { count: 50, perMs: HOUR_MS },
  },
} satisfies Record<string, { email?: Rate; address: Rate; network: Rate }>

type LimitContext = Pick<Context, 'now' | 'counter'>

/** @throws too_many, with the seconds to wait. The same for every mail address, whether or not somebody has it. */
export async function limitCalls(
  ctx: LimitContext,
  call: keyof typeof RATES,
  caller: Caller,
  email: string | null = null,
): Promise<void> {
  const rates: { email?: Rate; address: Rate; network: Rate } = RATES[call]
  const now = ctx.now()
  const take = (kind: string, who: string | null, rate: Rate | undefined) =>
    who !== null && rate ? answered(ctx.counter(counterName(call, kind, who)).take(rate, now)) : 0
  // First, so that what is refused here uses up nothing of its neighbours'.
  refuseFor(await take('address', caller.address, rates.address))
  const waits = await Promise.all([
    take('network', caller.address && networkOf(caller.address), rates.network),
    take('email', email, rates.email),
  ])
  refuseFor(Math.max(...waits))
}

/** Counts one guess at somebody's password. @throws too_many */
export async function limitGuesses(ctx: LimitContext, secret: string): Promise<{ forgive: () => Promise<void> }> {
  refuseFor(await answered(guessCounter(ctx, secret).guess(ctx.now())))
  return { forgive: () => forgiveGuesses(ctx, secret) }
}

export function forgiveGuesses(ctx: Pick<Context, 'counter'>, secret: string): Promise<void> {
  return answered(guessCounter(ctx, secret).forgive())
}

function guessCounter(ctx: Pick<Context, 'counter'>, secret: string) {
  return ctx.counter(counterName('guess', 'secret', secret))
}

/** What guesses at a sign-in's password are counted under: everybody who is not known together, each known device by itself. */
export function signInSecret(email: string, knownDevice: string | null): string {
  return `${email} ${knownDevice ?? ''}`
}

/** What guesses at the password of an open session are counted under. */
export function sessionSecret(userId: string): string {
  return `${userId} current`
}

/** Hashed: what is counted is nobody's business in a log. */
function counterName(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

function refuseFor(waitMs: number): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw new AppError('too_many', `Too many attempts. Please try again in ${inWords(seconds)}.`, { retryAfter: seconds })
}

function inWords(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
