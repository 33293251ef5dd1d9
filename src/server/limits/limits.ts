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

const CHECKOUTS: Rate = { count: 6, perMs: HOUR_MS }

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
  const counter = ctx.counter(counterName('guess', 'secret', secret))
  refuseFor(await answered(counter.guess(ctx.now())))
  return { forgive: () => answered(counter.forgive()) }
}

/** Counts one visit to a checkout page: each costs calls to the payment provider. @throws too_many */
export async function limitCheckouts(ctx: LimitContext, userId: string): Promise<void> {
  const counter = ctx.counter(counterName('checkout', 'user', userId))
  refuseFor(await answered(counter.takeExactly(CHECKOUTS, ctx.now())), 'You opened too many checkout pages.')
}

/** Hashed: what is counted is nobody's business in a log. */
function counterName(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

function refuseFor(waitMs: number, sentence = 'Too many attempts.'): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw new AppError('too_many', `${sentence} Please try again in ${inWords(seconds)}.`, { retryAfter: seconds })
}

function inWords(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
