import { AppError } from '../../domain/error.ts'
import type { LaunchRefusal } from '../ports/cloud.ts'

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
/**
 * Codes for bad input. They concern one zone if the message names it (`No default subnet for availability
 * zone: 'us-east-1e'`).
 */
const INPUT_REFUSALS = new Set(['InvalidInput', 'InvalidParameterValue', 'MissingInput'])
const BUSY = new Set([
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
 * Unknown refusals count for the whole account: trying every place would not help. Null if it is no refusal,
 * so that the outcome is unknown.
 */
export function refusalScope(error: unknown, zone: string): LaunchRefusal['refused'] | null {
  if (!isAnswer(error)) return null
  if (PLACE_REFUSALS.has(error.name) || (INPUT_REFUSALS.has(error.name) && error.message.includes(zone))) return 'place'
  return isRefusal(error) ? 'account' : null
}

function isAnswer(error: unknown): error is Error & { $metadata: object } {
  return error instanceof Error && '$metadata' in error && '$fault' in error
}

function isRefusal(error: unknown): boolean {
  if (!isAnswer(error)) return false
  const { httpStatusCode = 0 } = error.$metadata as { httpStatusCode?: number }
  return httpStatusCode < 500 && !BUSY.has(error.name)
}
