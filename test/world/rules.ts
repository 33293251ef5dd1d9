import { ACTS_RULES } from './rules/acts.ts'
import { BILLS_RULES } from './rules/bills.ts'
import { BUDGETS_RULES } from './rules/budgets.ts'
import { CHARGES_RULES } from './rules/charges.ts'
import { DEBTS_RULES } from './rules/debts.ts'
import { ENDS_RULES } from './rules/ends.ts'
import { EVENTS_RULES } from './rules/events.ts'
import { FACTORS_RULES } from './rules/factors.ts'
import { FILES_RULES } from './rules/files.ts'
import { FLEET_RULES } from './rules/fleet.ts'
import { GROUP_RULES } from './rules/groups.ts'
import { INCLUDED_HOURS_RULES } from './rules/included-hours.ts'
import { JOBS_RULES } from './rules/jobs.ts'
import { LINE_RULES } from './rules/line.ts'
import { METERS_RULES } from './rules/meters.ts'
import { MONEY_MAILS_RULES } from './rules/money-mails.ts'
import { PEOPLE_RULES } from './rules/people.ts'
import { PLAN_CHANGES_RULES } from './rules/plan-changes.ts'
import { PLANS_RULES } from './rules/plans.ts'
import { PROGRAMS_RULES } from './rules/programs.ts'
import type { Rule } from './rules/rule.ts'
import { TRIALS_RULES } from './rules/trials.ts'
import { WARM_RULES } from './rules/warm.ts'

/** What must be true after every step. */
export const RULES: Rule[] = [
  ...FLEET_RULES,
  ...WARM_RULES,
  ...LINE_RULES,
  ...GROUP_RULES,
  ...JOBS_RULES,
  ...METERS_RULES,
  ...PROGRAMS_RULES,
  ...TRIALS_RULES,
  ...ENDS_RULES,
  ...BILLS_RULES,
  ...INCLUDED_HOURS_RULES,
  ...PLANS_RULES,
  ...PLAN_CHANGES_RULES,
  ...DEBTS_RULES,
  ...CHARGES_RULES,
  ...MONEY_MAILS_RULES,
  ...BUDGETS_RULES,
  ...EVENTS_RULES,
  ...ACTS_RULES,
  ...PEOPLE_RULES,
  ...FACTORS_RULES,
  ...FILES_RULES,
]
