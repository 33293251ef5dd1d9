export const END_REASONS = [
  'you',
  'exited',
  'time_up',
  'idle',
  'budget',
  'plan',
  'trial_over',
  'suspended',
  'failure',
] as const
export type EndReason = (typeof END_REASONS)[number]

/** What a machine can report that its program died of before it answered. */
export const DEATHS = [
  'exited',
  'out_of_memory',
  'no_space',
  'secret_missing',
  'bad_image',
  'image_not_found',
  'image_denied',
  'image_login_refused',
  'image_login_expired',
  'image_host_private',
  'image_rate_limited',
  'image_stuck',
  'image_slow',
] as const
export type Death = (typeof DEATHS)[number]

/** Why a run failed, for programs. `silent`: its machine stopped telling us about its program. */
export const RUN_ERROR_CODES = [
  ...DEATHS,
  'no_answer',
  'files_failed',
  'no_capacity',
  'launch_refused',
  'instance_lost',
  'silent',
  'timeout',
] as const
export type RunErrorCode = (typeof RUN_ERROR_CODES)[number]

/** A job also fails if someone ends its run. */
export const JOB_ERROR_CODES = [...RUN_ERROR_CODES, 'stopped', 'suspended', 'stopped_by_us'] as const
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number]

/** `message` is for people. */
export type Failure = { code: JobErrorCode; message: string }

/** Why a run ends whose job fails with this code, and the code that the run keeps. */
export function endOfFailure(code: JobErrorCode): { because: EndReason; code: RunErrorCode | null } {
  return {
    because: code === 'suspended' ? 'suspended' : 'failure',
    code: RUN_ERROR_CODES.find((one) => one === code) ?? null,
  }
}
