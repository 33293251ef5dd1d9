import { privateAddress, publicAddress } from './addresses.ts'

export type InstanceState = 'pending' | 'running' | 'shutting-down' | 'terminated'

export const stateCodes: Record<InstanceState, number> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
}

/** A stored instance. It holds times in ms of the stack's clock; they and the current time determine its state. */
export type Instance = {
  id: string
  reservationId: string
  /** Launch order. Keeps pages stable while other calls launch more. */
  sequence: number
  launchIndex: number
  clientToken: string | null
  /** The zone the launch named. A token works once per named zone, and once for launches that name none. */
  tokenZone: string | null
  fingerprint: string
  instanceType: string
  imageId: string
  availabilityZone: string
  tags: Record<string, string>
  slot: number
  launchedAt: number
  runsFrom: number
  /** When a machine that was waiting for a run heard of it. Absent: not yet, or it never waited. */
  workFrom?: number
  /** The images that it had by then. */
  pulled?: string[]
  shutDownAt: number | null
  terminatedFrom: number | null
  stateReason: string | null
  /** Why it dies while it is pending, if it does: a code of StateReason. */
  dies?: string | undefined
  /** How far the clock that EC2 writes its times with differs from the stack's. */
  clockOffsetMs?: number
}

const hour = 3_600_000

/** A time as EC2 writes it: in whole seconds, by its own clock. */
export function toldTime(at: number, { clockOffsetMs = 0 }: Instance): number {
  return Math.floor((at + clockOffsetMs) / 1000) * 1000
}

/** When EC2 says that the instance ended. It gives a time only for ends that someone requested. */
export function toldEnd(instance: Instance): number | null {
  const { stateReason, shutDownAt } = instance
  return stateReason !== 'Client.UserInitiatedShutdown' || shutDownAt === null ? null : toldTime(shutDownAt, instance)
}

/** When it begins its run's work: as soon as it runs, or if it waits for a run, when it hears of one. Infinity: not yet. */
export const beginsAt = ({ tags, runsFrom, workFrom }: Instance): number =>
  tags.warm ? (workFrom ?? Infinity) : runsFrom

export const hasBegun = (instance: Instance): boolean => beginsAt(instance) < Infinity

export function stateOf(instance: Instance, now: number): InstanceState {
  if (instance.terminatedFrom !== null && now >= instance.terminatedFrom) return 'terminated'
  if (instance.shutDownAt !== null && now >= instance.shutDownAt) return 'shutting-down'
  return now >= instance.runsFrom ? 'running' : 'pending'
}

/** EC2 keeps describing a terminated instance for about an hour. */
export function isDescribed(instance: Instance, now: number): boolean {
  return instance.terminatedFrom === null || now < instance.terminatedFrom + hour
}

/** EC2 keeps client tokens for at least 24 hours after the instance ends. */
export function isTokenKept(instance: Instance, now: number): boolean {
  return instance.terminatedFrom === null || now < instance.terminatedFrom + 24 * hour
}

/** Null before the instance runs and after it terminates. */
export function publicIp(instance: Instance, now: number): string | null {
  const neverRan = instance.shutDownAt !== null && instance.shutDownAt < instance.runsFrom
  const state = stateOf(instance, now)
  return state === 'running' || (state === 'shutting-down' && !neverRan) ? publicAddress(instance.slot) : null
}

export function privateIp(instance: Instance, now: number): string | null {
  return stateOf(instance, now) === 'terminated' ? null : privateAddress(instance.slot)
}
