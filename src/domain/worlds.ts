import { type PlanType, planName } from './money/plan.ts'
import type { Vehicle } from './wire/fields.ts'
import type { Environment, Worlds } from './wire/fleet.ts'

/** What a server simulates: an environment of the catalog, or an image of one's own, and a vehicle in it. */

export const VEHICLES: readonly Vehicle[] = ['uav', 'ugv', 'multi']

/** The smallest first. */
export const PLAN_TYPES: PlanType[] = ['demo', 'basic', 'premium', 'enterprise']

/** The plans that include Build Your Own. */
export const OWN_PLANS: PlanType[] = ['premium', 'enterprise']

function vehicleName(vehicle: Vehicle): string {
  return { uav: 'UAV', ugv: 'UGV', multi: 'Multi-vehicle' }[vehicle]
}

/** The plans that include a vehicle, the smallest first. */
function plansOfVehicle(vehicle: Vehicle): PlanType[] {
  return vehicle === 'multi' ? ['premium', 'enterprise'] : PLAN_TYPES
}

/**
 * Whether an environment can have this name. It becomes an EC2 tag, a shell variable, and a line of a unit file, so it
 * contains nothing that any of them would read as more than text.
 */
export function isEnvironmentName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(text)
}

export const ENVIRONMENT_NAME_RULE =
  'A name begins with a letter and has up to 40 letters, digits, hyphens, and underscores.'

/** What someone on this plan may choose, and what other plans include. */
export function worldsFor(plan: PlanType, environments: Omit<Environment, 'available'>[]): Worlds {
  const choice = <T extends { plans: PlanType[] }>(one: T) => ({ ...one, available: one.plans.includes(plan) })
  return {
    environments: environments.map(choice),
    vehicles: VEHICLES.map((name) => choice({ name, plans: plansOfVehicle(name) })),
  }
}

type Choice = { name: string; plans: PlanType[]; available: boolean }

/** The available choice with this name. Without one: the last choice if it's still available, else the first. */
export function choose<T extends Choice>(choices: T[], name: string | null, last: string | null): T | undefined {
  const available = choices.filter((choice) => choice.available)
  const named = (wanted: string | null) => available.find((choice) => isNamed(choice, wanted))
  return name === null ? (named(last) ?? available[0]) : named(name)
}

/** Why nothing of this name can start, and what can: `Multi-vehicle needs Premium. The free trial includes UAV and UGV.` */
export function whyNotChosen(what: 'environment' | 'vehicle', choices: Choice[], name: string, plan: PlanType): string {
  const found = choices.find((choice) => isNamed(choice, name))
  const available = choices.filter((choice) => choice.available).map(titleOf)
  const includes = `${plan === 'demo' ? 'The free trial' : planName(plan)} includes ${listed(available)}.`
  if (found) return `${titleOf(found)} needs ${smallestPlan(found)}. ${includes}`
  return `There is no ${what} ${isEnvironmentName(name) ? `called "${name}"` : 'with this name'}. ${includes}`
}

/** The name of the smallest plan that includes it. */
export function smallestPlan({ plans }: Pick<Choice, 'plans'>): string {
  return planName(PLAN_TYPES.find((type) => plans.includes(type)) ?? 'enterprise')
}

/** The environment or vehicle as people read it. */
export function titleOf({ name }: { name: string }): string {
  const vehicle = VEHICLES.find((each) => each === name)
  return vehicle ? vehicleName(vehicle) : name
}

/** What a server simulates: `Mountains, UGV`. Null for runs from before people could choose. */
export function worldText({ environment, vehicle }: { environment?: string | null; vehicle?: string | null }) {
  return environment && vehicle ? `${environment}, ${titleOf({ name: vehicle })}` : null
}

const isNamed = ({ name }: Choice, wanted: string | null) => name.toLowerCase() === wanted?.toLowerCase()

const listed = (names: string[]) => (names.length ? new Intl.ListFormat('en-US').format(names) : 'none right now')
