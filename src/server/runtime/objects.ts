import type {
  CounterCalls,
  DoorCalls,
  EventSenderCalls,
  FleetWatcherCalls,
  HasherCalls,
  JobChannelCalls,
  RunLogCalls,
} from '../ports/objects.ts'
import type { Env } from '../settings/env.ts'
import { answered } from './answered.ts'

/**
 * Whether each call may run twice. If an object falls over, in a deploy for example, we can't know if it did its work,
 * so only these calls are made again.
 */
type Repeatable<Calls> = Record<keyof Calls, boolean>

/** Their second run changes nothing. At most, a page reads its account twice or draws the same server twice. */
const CHANNEL: Repeatable<JobChannelCalls> = {
  arm: true,
  wake: true,
  tellAccount: true,
  tellServer: true,
  tellLine: true,
  disconnect: true,
}
const FLEET_WATCHER: Repeatable<FleetWatcherCalls> = { arm: true, wake: true, revive: true }
/** It closes what lost its access, however often it looks. */
const DOOR_KEEPER: Repeatable<DoorCalls> = { recheck: true }
/** A batch is numbered, so its second run adds nothing. */
const RUN_LOG: Repeatable<RunLogCalls> = {
  append: true,
  heardAt: true,
  provenUntil: true,
  acted: true,
  read: true,
  tail: true,
  metrics: true,
  end: true,
  clear: true,
}
const EVENT_SENDER: Repeatable<EventSenderCalls> = { wake: true }

/**
 * Counting twice leaves a person fewer tries, never more, and the right password clears all guesses. Taking back a
 * guess twice would give a thief an extra one.
 */
const COUNTER: Repeatable<CounterCalls> = {
  guess: true,
  takeBack: false,
  forgive: true,
  take: true,
  spend: true,
  takeExactly: true,
}

/** A hash depends only on what it is given. */
const HASHER: Repeatable<HasherCalls> = { derive: true }

/**
 * The calls to the Durable Objects. Each gets a fresh stub: one whose object fell over keeps failing.
 * @throws unavailable, with the seconds to wait
 */
export function openObjects(env: Env) {
  return {
    channel: (userId: string) => reachable(CHANNEL, () => env.JOB_CHANNEL.getByName(userId)),
    fleetWatcher: (name: string) => reachable(FLEET_WATCHER, () => env.FLEET_WATCHER.getByName(name)),
    eventSender: (userId: string) => reachable(EVENT_SENDER, () => env.EVENT_SENDER.getByName(userId)),
    door: (userId: string) => reachable(DOOR_KEEPER, () => env.DOOR_KEEPER.getByName(userId)),
    runLog: (runId: string) => reachable(RUN_LOG, () => env.RUN_LOG.getByName(runId)),
    counter: (name: string) => reachable(COUNTER, () => env.ATTEMPT_COUNTER.getByName(name)),
    hasher: reachable(HASHER, () => env.PASSWORD_HASHER.getByName(`hasher ${nextTurn()}`)),
  }
}

/** Passes an upgrade to the user's channel. If a first socket got lost on its way to us, it closes on its own. */
export async function openSocket(env: Env, userId: string, upgrade: () => Request): Promise<Response> {
  const open = () => env.JOB_CHANNEL.getByName(userId).fetch(upgrade() as never)
  return (await answered(open, true)) as unknown as Response
}

function reachable<Calls extends object>(repeatable: Repeatable<Calls>, open: () => Calls): Calls {
  const call = (name: string, args: unknown[]) =>
    (open() as Record<string, (...args: unknown[]) => Promise<unknown>>)[name]?.(...args)
  const calls = Object.entries<boolean>(repeatable).map(([name, mayRepeat]) => [
    name,
    (...args: unknown[]) => answered(async () => call(name, args), mayRepeat),
  ])
  return Object.fromEntries(calls)
}

/** How many objects hash passwords. Each isolate takes turns among them, so that no queue fills up first. */
const HASHERS = 8
let turn: number | undefined

function nextTurn(): number {
  turn = ((turn ?? Math.floor(Math.random() * HASHERS)) + 1) % HASHERS
  return turn
}
