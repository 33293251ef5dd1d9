import type { AppError } from '../../domain/error.ts'

export type InstanceState = 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopping' | 'stopped'

export type CloudInstance = {
  id: string
  name: string | null
  type: string
  state: InstanceState
  privateIp: string | null
  publicIp: string | null
  launchTime: number | null
  /** The token of the launch that made it; null if it isn't ours. */
  token: string | null
  /** When it ended, in whole seconds, if the cloud says so: it forgets after an hour. */
  endedAt: number | null
  /** Why its state last changed, in the cloud's words. */
  endReason: string | null
  /** Whether the machine itself ended it. */
  shutItselfDown: boolean
  /** Why the cloud ended it on its own account. Before the instance ran, this means that the launch was refused. */
  refusal: (Omit<LaunchRefusal, 'error'> & { words: string }) | null
  tags: Record<string, string>
}

type Launch = {
  /** The same token never creates two instances. */
  token: string
  instanceType: string
  availabilityZone: string
  /** Absent or null: the default one. */
  launchTemplate?: string | null
  /** With its name, as `Name`. */
  tags: Record<string, string>
}

/**
 * EC2 said no: either to this place only, or to the whole account, so that the next place would get the same
 * answer.
 */
export type LaunchRefusal = {
  refused: 'place' | 'account'
  /** Whether it had no machine: later, or elsewhere, it may have one. */
  noCapacity: boolean
  code: string
  error: AppError
}

/**
 * Provides instances. Every call may throw an `AppError`: 'unavailable' if the outcome is unknown or the
 * cloud is busy, 'provider_failed' if the cloud said no.
 */
export type Cloud = {
  launch(launch: Launch): Promise<CloudInstance | LaunchRefusal>
  /** Null if the cloud doesn't know the id. That proves nothing: its answers are eventually consistent. */
  findInstance(id: string): Promise<CloudInstance | null>
  findByToken(token: string): Promise<CloudInstance | null>
  /**
   * Safe to repeat, even after the instance is gone.
   * @returns 'unknown' if the cloud doesn't know the id: as for `findInstance`, that proves nothing
   */
  terminate(id: string): Promise<'accepted' | 'unknown'>
  /** Sets tags of one of our instances. Safe to repeat. */
  tag(id: string, tags: Record<string, string>): Promise<void>
  /** The version that launches from this template get now. Null or absent: the zone's own. */
  templateVersion(availabilityZone: string, launchTemplate?: string | null): Promise<string>
  /**
   * Up to 1,000 of our instances, in one call. Instances that start or end in between don't shift the pages.
   * @param after the `next` of the page before; null for the first
   */
  listPage(after: string | null): Promise<{ instances: CloudInstance[]; next: string | null }>
  /**
   * All our instances, with their health (`ok`, `impaired`, `initializing`, `insufficient-data`…) or null if
   * unknown.
   * @param withinMs time limit for the whole call
   */
  listInstances(withinMs?: number): Promise<(CloudInstance & { statusCheck: string | null })[]>
}
