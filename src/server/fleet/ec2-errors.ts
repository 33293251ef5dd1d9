import type { Instance } from '@aws-sdk/client-ec2'
import { AppError } from '../../domain/error.ts'
import type { CloudInstance, LaunchRefusal } from '../ports/cloud.ts'

/** Codes that concern one zone: its capacity, its subnet, what it offers. */
const PLACE_REFUSALS = new Set([
  'InsufficientCapacity',
  'InsufficientFreeAddressesInSubnet',
  'InsufficientHostCapacity',
  'InsufficientInstanceCapacity',
  'InsufficientReservedInstanceCapacity',
  'InsufficientVolumeCapacity',
  'InvalidAvailabilityZone',
  'ReservationCapacityExceeded',
  'UnfulfillableCapacity',
  'Unsupported',
  'VolumeTypeNotAvailableInZone',
])
/** The place's launch template, or something that it names, doesn't exist. */
const MISSING =
  /^Invalid(LaunchTemplate(Name|Id)|SubnetID|AMIID|Group|SecurityGroup(ID)?|Snapshot|KeyPair)\.(\w*NotFound\w*|Unavailable|Malformed)$/
/**
 * Codes for bad input. They concern one zone if the message names it (`No default subnet for availability
 * zone: 'us-east-1e'`).
 */
const INPUT_REFUSALS = new Set(['InvalidInput', 'InvalidParameterValue', 'MissingInput'])
/** Reasons of an end that isn't EC2's own doing, such as `Client.UserInitiatedShutdown`. */
const ENDED_BY_SOMEONE = /Shutdown$|Hibernate$|Terminat|^ScheduledStop$/
/** Reasons of an end that would repeat in every other place. */
const ACCOUNT_ENDS = new Set([
  'Blocked',
  'InstanceLimitExceeded',
  'OptInRequired',
  'PendingVerification',
  'UnauthorizedOperation',
  'VcpuLimitExceeded',
])
const NO_CAPACITY = /^Insufficient\w*(Capacity|FreeAddressesInSubnet)$/
/** An earlier request with this token made an instance: it has since ended, or its launch template has a new version. */
const MADE_EARLIER = ['IdempotentInstanceTerminated', 'IdempotentParameterMismatch']
const BUSY = new Set([
  ...MADE_EARLIER,
  'EC2ThrottledException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'Throttling',
  'ThrottlingException',
  'InternalError',
  'InternalFailure',
  'Unavailable',
  'ServiceUnavailable',
])

export function madeEarlier(error: unknown): boolean {
  return error instanceof Error && MADE_EARLIER.includes(error.name)
}

export function isUnknownInstance(error: unknown): boolean {
  return error instanceof Error && error.name === 'InvalidInstanceID.NotFound'
}

/**
 * Keeps AWS's words in `cause`, for the log; people get ours. No answer, "busy", and faults of theirs are
 * retryable.
 */
export function translate(cause: unknown): AppError {
  if (isRefusal(cause))
    return new AppError(
      'provider_failed',
      'Our cloud provider turned this request down. Please try again in a few minutes.',
      { cause },
    )
  return new AppError('unavailable', 'The cloud provider did not answer. Please try again in a moment.', {
    cause,
    retryable: true,
  })
}

/**
 * Unknown refusals count for the whole account: trying every place wouldn't help. Null if it isn't a refusal, so the
 * outcome is unknown.
 */
export function refusalScope(error: unknown, zone: string): LaunchRefusal['refused'] | null {
  if (!isAnswer(error)) return null
  if (
    PLACE_REFUSALS.has(error.name) ||
    MISSING.test(error.name) ||
    (INPUT_REFUSALS.has(error.name) && error.message.includes(zone))
  )
    return 'place'
  return isRefusal(error) ? 'account' : null
}

/**
 * EC2 may take a launch and then end the instance while it is pending: `Server.InsufficientInstanceCapacity`,
 * `Client.VolumeLimitExceeded`, `Client.InvalidSnapshot.NotFound`, `Server.InternalError`. Unknown reasons count for
 * the place, since a start tries only a few.
 */
export function refusalOfEnd({ StateReason, StateTransitionReason }: Instance): CloudInstance['refusal'] {
  const [code, name] = /^(?:Server|Client)\.([\w.]+)/.exec(StateReason?.Code || StateTransitionReason || '') ?? []
  if (!code || !name || ENDED_BY_SOMEONE.test(name)) return null
  return {
    refused: ACCOUNT_ENDS.has(name) ? 'account' : 'place',
    noCapacity: NO_CAPACITY.test(name),
    code,
    words: StateReason?.Message || StateTransitionReason || code,
  }
}

/** Whether another try may soon work, because the place is only out of machines. */
export const isShortage = (code: string): boolean => !MISSING.test(code)

function isAnswer(error: unknown): error is Error & { $metadata: object } {
  return error instanceof Error && '$metadata' in error && '$fault' in error
}

function isRefusal(error: unknown): boolean {
  if (!isAnswer(error)) return false
  const { httpStatusCode = 0 } = error.$metadata as { httpStatusCode?: number }
  return httpStatusCode < 500 && !BUSY.has(error.name)
}
