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
  /** Of the launch that made it; null where it is none of ours. */
  token: string | null
  tags: Record<string, string>
}

type Launch = {
  /** The same token never makes two instances. */
  token: string
  instanceType: string
  availabilityZone: string
  name: string
  tags: Record<string, string>
}

/** EC2 said no: only to this place, or to the whole account, where the next place would get the same answer. */
export type LaunchRefusal = { refused: 'place' | 'account'; code: string; error: AppError }

/**
 * Where instances come from. Every call may throw an `AppError`: 'unavailable' when nothing is known about the outcome or the
 * cloud is busy, 'provider_failed' when the cloud said no.
 */
export type Cloud = {
  launch(launch: Launch): Promise<CloudInstance | LaunchRefusal>
  /** Null when the cloud does not know the id, which proves nothing: its answers are eventually consistent. */
  findInstance(id: string): Promise<CloudInstance | null>
  findByToken(token: string): Promise<CloudInstance | null>
  /** Safe to repeat, and for an instance that is already gone. */
  terminate(id: string): Promise<void>
  /**
   * All of ours, with their health (`ok`, `impaired`, `initializing`, `insufficient-data`…), null when it is not known.
   * @param withinMs how long the whole may take
   */
  listInstances(withinMs?: number): Promise<(CloudInstance & { statusCheck: string | null })[]>
}
