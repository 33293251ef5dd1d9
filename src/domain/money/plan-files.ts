import { DAY_MS } from '../instant.ts'
import { isUnpaid, type PlanType, stands } from './plan.ts'

const GB = 1_000_000_000

/** Bytes of files that a plan includes, as its texts promise; null: any amount. */
export const FILES_LIMIT: Record<PlanType, number | null> = {
  demo: GB,
  basic: 10 * GB,
  premium: null,
  enterprise: null,
}

/** In a plan without a limit, we tell the operator from this size on. */
const FILES_ALERT_BYTES = 1000 * GB

/** Beyond this many files, each adds this many bytes, because even empty files cost us something. */
export const FREE_FILES = 100_000
export const BYTES_PER_FILE = 100_000

/** How long files can still be read after a plan has ended, or while it is unpaid. Then we delete them. */
export const FILES_KEPT_DAYS = 30
/** How long files beyond the limit stay, even after a switch to a smaller plan. Then we delete the newest files. */
export const FILES_OVER_DAYS = 7
/** We email about that this many days before. */
const WARNED_DAYS = [1, 7, 30]
/** We email when this share of the limit is used. */
const TOLD_PERCENTS = [200, 100, 80] as const

type PlanRow = {
  planType: PlanType
  status: string
  anchor: number
  endedAt: number | null
  cancelAt: number | null
}

type NextPlan = { nextPlanType: PlanType | null; nextPlanAt: number | null }

export type FilesRights = {
  /** Null: unlimited. */
  limit: number | null
  /** Why nothing may be added, regardless of the limit: the plan is unpaid or ended, or there was none. */
  readOnly: 'unpaid' | 'ended' | 'none' | null
}

/** How much in files someone's plans include now. Takes all plans that they have or had. */
export function filesRights(plans: PlanRow[], now: number): FilesRights {
  const begun = begunOf(plans)
  const current = begun.find((plan) => stands(plan, now))
  if (current) return { limit: FILES_LIMIT[current.planType], readOnly: isUnpaid(current) ? 'unpaid' : null }
  const last = begun.sort((a, b) => b.anchor - a.anchor)[0]
  return last ? { limit: FILES_LIMIT[last.planType], readOnly: 'ended' } : { limit: 0, readOnly: 'none' }
}

/** What a smaller plan that begins within a week won't include, and when it begins. */
export function overNext(plans: (PlanRow & NextPlan)[], used: number, now: number) {
  const { nextPlanType, nextPlanAt } = begunOf(plans).find((plan) => stands(plan, now)) ?? {}
  const limit = nextPlanType ? FILES_LIMIT[nextPlanType] : null
  if (!nextPlanType || !nextPlanAt || limit === null || used <= limit) return null
  const isSoon = now < nextPlanAt && nextPlanAt <= now + FILES_OVER_DAYS * DAY_MS
  return isSoon ? { plan: nextPlanType, at: nextPlanAt, limit } : null
}

/** The earliest that files go after the last of these plans. For an unpaid one, the days count from when we see it. */
export function keptUntil(plans: PlanRow[], now: number): number {
  const ends = begunOf(plans)
    .filter((plan) => !(stands(plan, now) && isUnpaid(plan)))
    .map(({ endedAt, cancelAt }) => Math.min(endedAt ?? Infinity, cancelAt ?? Infinity))
  return Math.max(0, ...ends) + FILES_KEPT_DAYS * DAY_MS
}

/** Leaves out plans whose first payment never came, which end where they began, or hasn't come yet. */
function begunOf<Row extends PlanRow>(plans: Row[]): Row[] {
  return plans.filter((plan) => (plan.endedAt === null ? !waitsForFirst(plan) : plan.endedAt > plan.anchor))
}

/** Its first payment is still due. */
export function waitsForFirst({ status }: { status: string }): boolean {
  return status === 'incomplete'
}

/** The warning that is due before files are deleted: 30, 7, or 1 day ahead. */
export function dueWarning(deleteAt: number, now: number): number {
  return WARNED_DAYS.find((days) => deleteAt - now <= days * DAY_MS) ?? FILES_KEPT_DAYS
}

/** What counts toward a limit. */
export function usedOfLimit(
  folder: { usedBytes: number; partsBytes: number; usedFiles: number },
  limit: number | null,
) {
  const { usedBytes, partsBytes, usedFiles } = folder
  return usedBytes + partsBytes + (limit === null ? 0 : Math.max(0, usedFiles - FREE_FILES) * BYTES_PER_FILE)
}

/**
 * What someone should hear about how full it is; 0: nothing. From 200 on, and from 100 without a limit, it doubles, and
 * is for the operator.
 */
export function reachedPercent(used: number, limit: number | null): number {
  const most = limit ?? FILES_ALERT_BYTES
  const reached = TOLD_PERCENTS.find((percent) => used > 0 && used * 100 >= most * percent) ?? 0
  if (reached < 100 && limit === null) return 0
  return reached === 200 && most > 0 ? 100 * 2 ** Math.floor(Math.log2(used / most)) : reached
}
