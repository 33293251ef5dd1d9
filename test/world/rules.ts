import { BILLS_RULES } from './rules/bills.ts'
import { DEBTS_RULES } from './rules/debts.ts'
import { FLEET_RULES } from './rules/fleet.ts'
import { JOBS_RULES } from './rules/jobs.ts'
import { METERS_RULES } from './rules/meters.ts'
import { PEOPLE_RULES } from './rules/people.ts'
import { PLANS_RULES } from './rules/plans.ts'
import type { Rule } from './rules/rule.ts'
import { TRIALS_RULES } from './rules/trials.ts'

/** What must be true after every step. */
export const RULES: Rule[] = [
  ...FLEET_RULES,
  ...JOBS_RULES,
  ...METERS_RULES,
  ...TRIALS_RULES,
  ...BILLS_RULES,
  ...PLANS_RULES,
  ...DEBTS_RULES,
  ...PEOPLE_RULES,
]
