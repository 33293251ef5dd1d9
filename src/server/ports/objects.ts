import type { ScryptOptions } from 'node:crypto'
import type { Rate } from '../../domain/attempts.ts'
import type { ServerFrame } from '../../domain/cable.ts'
import type { Pull } from '../../domain/image-pull.ts'
import type { Death } from '../../domain/run-end.ts'
import type { LogLine, LogPart, LogSource } from '../../domain/run-log.ts'
import type { MetricsPart, Sample } from '../../domain/run-metrics.ts'
import type { LinePlace, Server } from '../../domain/wire/fleet.ts'

/** The calls that the rest of the server may make to a user's JobChannel object. */
export type JobChannelCalls = {
  /** Call before writing: makes the object look at its jobs within 30 s, whatever happens to the caller. */
  arm(userId: string): Promise<void>
  /** Call after writing: look at the jobs now. */
  wake(userId: string): Promise<void>
  /** Call after writing: tells the user's open pages to read their account again. */
  tellAccount(): Promise<void>
  /** Call after writing: shows the user's open pages their server as it is now, and why. */
  tellServer(event: ServerFrame, server: Server): Promise<void>
  /** Call after writing: shows the user's open pages their place in line; null once they have none. */
  tellLine(line: LinePlace | null): Promise<void>
  /**
   * Call after writing: closes the sockets of these sign-ins, or all of them.
   * @param renewed one whose browser gets a new cookie with this answer: its sockets get nothing more until they connect again
   */
  disconnect(signInIds: string[] | 'all', renewed?: string): Promise<void>
}

/** The calls to the object that holds a user's open connections through their door. */
export type DoorCalls = {
  /** Call after writing: closes the connections of everyone who has lost access. */
  recheck(): Promise<void>
}

/** The names of the objects that look at all servers, and at the line. */
export const FLEET = 'fleet'
export const LINE = 'line'

/** The calls to an object that watches what all users share: the fleet, or the line. Its name says which. */
export type FleetWatcherCalls = {
  /** Call before writing: makes the object look within 30 s, whatever happens to the caller. */
  arm(name: string): Promise<void>
  /** Call after writing: look now. */
  wake(name: string): Promise<void>
  /**
   * Look now if no alarm is due or the last look is long ago.
   * @param now the caller's clock
   */
  revive(name: string, now: number): Promise<void>
}

/** The calls that the rest of the server may make to a user's EventSender object. */
export type EventSenderCalls = {
  /** Call after writing: deliver what is due now. */
  wake(userId: string): Promise<void>
}

/** One counter: of guesses at one secret, or uses of one thing. Each call is exact, even under concurrency. */
export type CounterCalls = {
  /** @returns ms to wait; 0: the guess is counted and you may check it */
  guess(now: number): Promise<number>
  /** The guess doesn't count: it could not be checked, or was a right one of many. */
  takeBack(): Promise<void>
  /** The guess was right. */
  forgive(): Promise<void>
  /** @returns ms to wait; 0: taken */
  take(rate: Rate, now: number): Promise<number>
  /** The same, and reports how many are left, and in how many ms all are available again. */
  spend(rate: Rate, now: number): Promise<Spent>
  /** The same, but never more than the rate in any window: `take` allows up to twice as many after a full pause. */
  takeExactly(rate: Rate, now: number): Promise<number>
}

export type Spent = { waitMs: number; left: number; fullInMs: number }

/** What to hash: never the password itself, and never the pepper. */
export type Derivation = { secret: Uint8Array; salt: Uint8Array; cost: Required<Pick<ScryptOptions, 'N' | 'r' | 'p'>> }

export type HasherCalls = {
  /** @returns the key; null when the queue is full */
  derive(work: Derivation): Promise<Uint8Array | null>
}

/** What a machine reports about its container. */
export type MachinePhase =
  | { name: 'pulling'; percent: number; bytes: number }
  | { name: 'pulled' | 'started' }
  | { name: 'exited'; exit_code: number; oom: boolean; answered?: boolean | undefined }
  | { name: 'failed'; code: Death; exit_code: number | null }

/** Includes everything that the machine has sent since it booted, from outside the container as well. Older machines don't report it. */
export type MachineSample = Sample & { host_sent_bytes?: number | null }

/** Lines as a machine posts them; `first` is the number of the first one. `at` in ms since 1970. */
export type LogBatch = {
  first: number
  lines: { at: number; source: LogSource; text: string }[]
  phase: MachinePhase | null
  samples: MachineSample[]
  /** The machine has nothing more to say. */
  complete: boolean
}

/**
 * What someone must act on: a phase and when it began, how far a pull is, whether the disk is nearly full, that the
 * program keeps exiting, and that it sends a lot. Null: no news of it.
 */
export type MachineNews = {
  phase: MachinePhase | null
  /** By the machine's clock, as far as we can confirm it. */
  phaseAt: number
  pull: Pull | null
  diskNearlyFull: boolean | null
  keepsEnding: boolean
  /** How much its containers or the whole machine have sent, if that is a lot. */
  sentBytes: number | null
}

/** `next`: the number of the first line it doesn't have. `news`: what nobody has acted on. */
type Heard = { next: number; every_seconds: 1 | 30; news: MachineNews | null }

/** When the machine last spoke, and when it says that its program exited; null if it never said so. */
export type LastWord = { heardAt: number | null; exitedAt: number | null }

/** The calls to the object that keeps one run's log, and how busy its machine was. */
export type RunLogCalls = {
  /** Adds what is new. @returns why it takes nothing, otherwise what it has */
  append(batch: LogBatch, now: number): Promise<Heard | 'over' | 'too_many'>
  /** Call after writing the consequences of this news. */
  acted(news: MachineNews): Promise<void>
  /** What follows line `after`. @param isOver the run has ended */
  read(after: number, isOver: boolean): Promise<LogPart>
  /** When the machine last spoke; null if it never did, or if it may be trying to reach us after we were away. */
  heardAt(now: number): Promise<number | null>
  /** Until when its program surely ran, as far as we have heard: no later word reports an earlier exit. Null: the machine never spoke. */
  provenUntil(now: number): Promise<number | null>
  /** Its last lines, oldest first. */
  tail(count: number): Promise<LogLine[]>
  /** The finest samples that reach back that far. @param now the caller's clock */
  metrics(since: number, now: number): Promise<MetricsPart>
  /** The run has ended: it takes nothing more, and goes 30 days later. */
  end(now: number): Promise<LastWord>
  /** Deletes all lines so far, or the samples as well. */
  clear(what: 'lines' | 'everything'): Promise<void>
}
