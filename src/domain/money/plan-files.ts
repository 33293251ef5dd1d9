import type { PlanType } from './plan.ts'

const GB = 1_000_000_000

/** Bytes of files that a plan includes, as its texts promise; null: any amount. */
export const FILES_LIMIT: Record<PlanType, number | null> = {
  demo: GB,
  basic: 10 * GB,
  premium: null,
  enterprise: null,
}
