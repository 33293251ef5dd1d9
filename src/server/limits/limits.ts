import { createHash } from 'node:crypto'
import type { Rate } from '../../domain/attempts.ts'
import { AppError } from '../../domain/error.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import type { Spent } from '../ports/objects.ts'
import type { Context } from '../runtime/context.ts'
import { connectionOf, networkOf } from './network.ts'
import { countPeople } from './people.ts'

/** The caller's address as the network reports it; null when it doesn't, as on your own machine. */
export type Caller = { address: string | null }

/**
 * How often each call may be made in `perMs`: per mailbox, per IP address (a /64 of IPv6, which one
 * machine may fill), and per network. A campus or a company shares one address, so the last two limits grow
 * by `perPerson` for each person who signed in from there. It is below 1 for calls that create people: two
 * new people allow at most one more sign-up.
 */
const RATES = {
  sign_in: { address: 60, network: 300, perPerson: 2, perMs: HOUR_MS / 4 },
  /** Calls by people who typed the right password. */
  second_factor: { address: 60, network: 300, perPerson: 2, perMs: HOUR_MS / 4 },
  /** Each visit of the sign-in page asks for what a passkey must sign. */
  passkey_options: { address: 120, network: 600, perPerson: 4, perMs: HOUR_MS / 4 },
  sign_up: { email: 5, address: 20, network: 100, perPerson: 0.5, perMs: HOUR_MS },
  resend: { email: 5, address: 20, network: 100, perPerson: 0.5, perMs: HOUR_MS },
  reset: { email: 5, address: 20, network: 100, perPerson: 0.5, perMs: HOUR_MS },
  device: { address: 20, network: 100, perPerson: 0.5, perMs: HOUR_MS },
  extend: { address: 30, network: 150, perPerson: 0.5, perMs: HOUR_MS },
  contact: { email: 5, address: 10, network: 50, perPerson: 0.25, perMs: HOUR_MS },
} satisfies Record<string, Limits>

type Limits = { email?: number; address: number; network: number; perPerson: number; perMs: number }

/** Loaded when needed: few calls send emails. */
const mailboxOf = async (email: string) => (await import('../../domain/mailbox.ts')).mailboxOf(email)

/** A limit grows to at most this many times its base. */
const MOST_GROWTH = 5

/**
 * How often one person, from any address, may do what costs us a hash, an email or a call to the payment
 * provider.
 */
const PERSONAL = {
  checkout: { count: 6, perMs: HOUR_MS, sentence: 'You opened too many checkout pages.' },
  /** Checks whether they have paid by now. */
  ask_stripe: { count: 60, perMs: HOUR_MS },
  portal: { count: 20, perMs: HOUR_MS },
  pay_page: { count: 20, perMs: HOUR_MS },
  /** Quotes of an upgrade. */
  quote_plan: { count: 30, perMs: HOUR_MS },
  change_plan: { count: 20, perMs: HOUR_MS },
  /** A no after a yes starts over with each open invoice. */
  charge_answer: { count: 20, perMs: HOUR_MS },
  cancel_plan: { count: 20, perMs: HOUR_MS },
  /** Each has us look at a running server. */
  set_budget: { count: 60, perMs: HOUR_MS, sentence: 'You changed your budget too often.' },
  set_idle: { count: 60, perMs: HOUR_MS, sentence: 'You changed when idle servers stop too often.' },
  new_password: { count: 10, perMs: HOUR_MS },
  /** People retry while we can't check passwords. This is more often than that. */
  close_account: { count: 30, perMs: HOUR_MS },
  /** Only the first write uses up a mailed link, so every password sent at once would be hashed. */
  use_reset_link: { count: 2, perMs: MINUTE_MS },
  change_factor: { count: 20, perMs: HOUR_MS },
  /** The first codes of a new authenticator app. */
  confirm_factor: { count: 30, perMs: HOUR_MS },
  /** What a passkey must sign to confirm an act. */
  ask_passkey: { count: 60, perMs: HOUR_MS },
  /** Each reads all that the person ever had. */
  export: { count: 20, perMs: HOUR_MS },
  /** Each goes through all of them. An account may list 20,000 page by page. */
  find_runs: { count: 1000, perMs: HOUR_MS / 4, sentence: 'You listed your servers too often.' },
  runs_file: { count: 60, perMs: HOUR_MS, sentence: 'You downloaded the list of your servers too often.' },
  new_token: { count: 10, perMs: HOUR_MS },
  /** Lookups of a code. Codes expire too soon to find one by guessing. */
  user_code: { count: 30, perMs: HOUR_MS },
  /** Programs ask each quarter hour; machines have a limit of their own. */
  files_access: { count: 60, perMs: HOUR_MS / 4, sentence: 'You requested credentials for your files too often.' },
  /** The bucket charges for each list; a folder's size takes 8. */
  files_list: { count: 1000, perMs: HOUR_MS / 4, sentence: 'You listed your files too often.' },
  /** Each asks the bucket. An archive opens files one after the other. */
  files_open: { count: 10_000, perMs: HOUR_MS / 4, sentence: 'You opened your files too often.' },
  files_size: { count: 100, perMs: HOUR_MS / 4, sentence: 'You requested the size of a folder too often.' },
  /** Uploads and deletions, even refused and repeated ones: up to 8 lists each. Copying many files needs none of them. */
  files_change: { count: 3000, perMs: HOUR_MS / 4, sentence: 'You changed your files too often.' },
  /** New names and ends of servers: each is kept, and told to every open page. */
  name_run: { count: 120, perMs: HOUR_MS, sentence: 'You renamed your servers too often.' },
  move_end: { count: 120, perMs: HOUR_MS, sentence: 'You changed when your servers stop too often.' },
  /** Ended links are kept as well, so the limit of open ones isn't enough. */
  invite_guest: { count: 60, perMs: HOUR_MS, sentence: 'You made too many guest links.' },
  /** Each writes a ticket. */
  open_door: { count: 300, perMs: HOUR_MS, sentence: 'You opened your server too often.' },
  /** Each changes where others stand. Leaving needs a join first. */
  join_line: { count: 60, perMs: HOUR_MS, sentence: 'You joined the line too often.' },
  feedback: { count: 10, perMs: HOUR_MS, sentence: 'You sent a lot of feedback.' },
  new_webhook: { count: 10, perMs: HOUR_MS },
  new_webhook_secret: { count: 10, perMs: HOUR_MS },
  put_secret: { count: 40, perMs: HOUR_MS },
  /** Images of one's own, added and removed, as a program swaps them with each build. */
  change_environment: { count: 200, perMs: HOUR_MS },
  send_event: { count: 100, perMs: HOUR_MS },
  /** Sign-ins from known browsers skip the per-address limits, which a neighbor could use up. */
  known_sign_in: { count: 10, perMs: HOUR_MS / 4 },
} satisfies Record<string, Personal>

type Personal = Rate & { sentence?: string }

/** How often a program may call with one API token. */
export const TOKEN_RATE = { count: 300, perMs: MINUTE_MS } satisfies Rate

type LimitContext = Pick<Context, 'now' | 'counter'>

/** What has a limit. A test calls each beyond it. */
export type Limited = keyof typeof RATES | keyof typeof PERSONAL

/** @throws too_many, with the seconds to wait; the same whether or not the email address has an account */
export async function limitCalls(
  ctx: LimitContext & Pick<Context, 'db'>,
  call: keyof typeof RATES,
  { address }: Caller,
  email: string | null = null,
): Promise<void> {
  const limits: Limits = RATES[call]
  const now = ctx.now()
  const take = (kind: string, who: string, count: number) =>
    ctx.counter(counterName(call, kind, who)).take({ count, perMs: limits.perMs }, now)
  const takeFrom = async (place: 'address' | 'network', who: string) => {
    const wait = await take(place, who, limits[place])
    if (wait === 0) return 0
    // Counting people costs a query, so do it only for calls beyond the base limit.
    const people = await countPeople(ctx, address ?? '', place, (MOST_GROWTH * limits[place]) / limits.perPerson)
    const more = Math.floor(people * limits.perPerson)
    return more ? Math.min(wait, await take(`more by ${place}`, who, more)) : wait
  }
  const mailbox = email === null || !limits.email ? null : await mailboxOf(email)
  // Check the address first, so that a refused call uses up none of its network's quota.
  if (address !== null) refuseFor(await takeFrom('address', connectionOf(address)))
  const waits = await Promise.all([
    address === null ? 0 : takeFrom('network', networkOf(address)),
    mailbox !== null && limits.email ? take('email', mailbox, limits.email) : 0,
  ])
  refuseFor(Math.max(...waits))
}

/**
 * Counts a guess at a password or code before checking it. A right guess clears the count. If the check
 * itself fails, the guess is taken back: people who retry while we are busy must not be locked out.
 * @param whenRight `takeBack` where someone who knows one right answer could guess others: the wrong ones still count
 * @throws too_many, and what `isRight` throws
 */
export async function limitGuesses(
  ctx: LimitContext & Pick<Context, 'log'>,
  secret: string,
  isRight: () => Promise<boolean>,
  whenRight: 'forgive' | 'takeBack' = 'forgive',
): Promise<boolean> {
  const counter = guessCounter(ctx, secret)
  refuseFor(await counter.guess(ctx.now()))
  const right = await isRight().catch(async (error) => {
    await counter.takeBack().catch((cause) => ctx.log('guess_not_taken_back', {}, cause))
    throw error
  })
  if (right) await counter[whenRight]()
  return right
}

export function forgiveGuesses(ctx: Pick<Context, 'counter'>, secret: string): Promise<void> {
  return guessCounter(ctx, secret).forgive()
}

function guessCounter(ctx: Pick<Context, 'counter'>, secret: string) {
  return ctx.counter(counterName('guess', 'secret', secret))
}

/** The key for counting sign-in guesses: each known device has its own count, all others share one. */
export function signInSecret(email: string, knownDevice: string | null): string {
  return `${email} ${knownDevice ?? ''}`
}

/** The key for counting guesses at the current password by someone who is signed in. */
export function sessionSecret(userId: string): string {
  return `${userId} current`
}

/** Counts a call with this API token, and says how much of its rate is left. */
export function spendCall(ctx: LimitContext, tokenId: string): Promise<Spent> {
  return ctx.counter(counterName('call', 'token', tokenId)).spend(TOKEN_RATE, ctx.now())
}

/** A machine renews its credentials every 12 minutes, and tries again when something fails. */
const MACHINE_RATE = { count: 120, perMs: HOUR_MS / 4 } satisfies Rate

/** Counts a machine's requests for its run. @throws too_many */
export async function limitMachine(ctx: LimitContext, runId: string): Promise<void> {
  refuseFor(await ctx.counter(counterName('machine', 'run', runId)).take(MACHINE_RATE, ctx.now()))
}

/** @throws too_many, with the seconds to wait */
export function refuseCall(waitMs: number): void {
  refuseFor(waitMs, 'Too many calls with this API token.')
}

/** @param person the user's id, or the email address they sign in with @throws too_many */
export async function limitPerson(ctx: LimitContext, act: keyof typeof PERSONAL, person: string): Promise<void> {
  const { sentence }: Personal = PERSONAL[act]
  refuseFor(await waitOf(ctx, act, person), sentence)
}

/** For optional work: false instead of an error. */
export async function mayStill(ctx: LimitContext, act: keyof typeof PERSONAL, person: string): Promise<boolean> {
  return (await waitOf(ctx, act, person)) === 0
}

function waitOf(ctx: LimitContext, act: keyof typeof PERSONAL, person: string): Promise<number> {
  const { count, perMs } = PERSONAL[act]
  return ctx.counter(counterName(act, 'user', person)).takeExactly({ count, perMs }, ctx.now())
}

/** Hashed, so that names in the platform's logs reveal no email address. */
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
