import { UNITS_PER_DOLLAR, UNITS_PER_SECOND } from './money.ts'

export type PlanType = 'demo' | 'basic' | 'premium' | 'enterprise'

/** A demo is the free trial: this many minutes of server time, once. */
export const TRIAL_MINUTES = 30

export type Plan = {
  type: PlanType
  name: string
  /** Whole dollars per month; null if the price is negotiated. */
  dollarsPerMonth: number | null
  /** Server hours included in a cycle. */
  hours: number
  /** NVIDIA L4 GPUs of the largest server it allows. */
  gpus: number
  features: { cpu: string; memory: string; gpu: string; environments: string; syntheticData: string; vehicles: string }
}

// Stryker disable StringLiteral,ObjectLiteral: what the pages say about a plan; their tests read it.
export const BASIC: Plan = {
  type: 'basic',
  name: 'Basic',
  dollarsPerMonth: 25,
  hours: 5,
  gpus: 1,
  features: {
    cpu: '16 CPU',
    memory: '64 GB RAM',
    gpu: '1 NVIDIA L4',
    environments: 'Blocks, Neighborhood and Mountains',
    syntheticData: '10 GB synthetic data',
    vehicles: 'Single UAV or UGV',
  },
}

export const PREMIUM: Plan = {
  type: 'premium',
  name: 'Premium',
  dollarsPerMonth: 250,
  hours: 30,
  gpus: 4,
  features: {
    cpu: 'Up to 64 CPU',
    memory: '128 GB RAM',
    gpu: '4 NVIDIA L4',
    environments: '10 environments plus Build Your Own',
    syntheticData: 'Unlimited synthetic data',
    vehicles: 'Multi-vehicle',
  },
}

export const ENTERPRISE: Plan = {
  type: 'enterprise',
  name: 'Enterprise',
  dollarsPerMonth: null,
  hours: 0,
  gpus: Number.MAX_SAFE_INTEGER,
  features: {
    cpu: 'Custom',
    memory: 'Custom',
    gpu: 'Custom',
    environments: 'Customizable physics and sensors',
    syntheticData: 'Custom',
    vehicles: 'Custom',
  },
}
// Stryker restore StringLiteral,ObjectLiteral

/** The plans on offer, in the order of the pricing table. */
export const PLANS = [BASIC, PREMIUM, ENTERPRISE] as const

/** The price of an hour beyond the plan's hours, as printed. */
export const OVERAGE_DOLLARS_PER_HOUR = 1.75
/** The price as billed, per second. */
export const OVERAGE_DOLLARS_PER_SECOND = UNITS_PER_SECOND / UNITS_PER_DOLLAR
/** Days from an invoice until it is overdue. */
export const PAYMENT_DAYS = 15

/** Undefined for a trial, and for any other word. */
export function planOffered(type: string | null | undefined): Plan | undefined {
  return PLANS.find((plan) => plan.type === type)
}

/** Likewise for one whose price is negotiated. */
export function planForSale(type: string | null | undefined): Plan | undefined {
  return PLANS.find((plan) => plan.type === type && plan.dollarsPerMonth !== null)
}

export function planName(type: PlanType): string {
  return { demo: 'Free trial', basic: 'Basic', premium: 'Premium', enterprise: 'Enterprise' }[type]
}

/** NVIDIA L4 GPUs of the largest server a user may start. A trial, an unpaid plan, or no plan counts as Basic. */
export function gpusOf(current: { planType: PlanType; status: string } | null): number {
  if (isUnpaid(current)) return BASIC.gpus
  return planOffered(current?.planType)?.gpus ?? BASIC.gpus
}

/** The plan whose environments and vehicles a user may choose. An unpaid plan, or no plan, counts as Basic. */
export function planOf(current: { planType: PlanType; status: string } | null): PlanType {
  return current === null || isUnpaid(current) ? BASIC.type : current.planType
}

/** Stripe's states of an unpaid subscription: no hours, no starts. */
export const UNPAID_STATUSES = ['past_due', 'unpaid', 'incomplete', 'paused']

export function isUnpaid(plan: { status: string } | null): boolean {
  return plan !== null && UNPAID_STATUSES.includes(plan.status)
}

/** A plan is over at its cancellation date, whether or not Stripe has ended it yet. */
export function stands(plan: { endedAt: number | null; cancelAt: number | null }, now: number): boolean {
  return plan.endedAt === null && now < (plan.cancelAt ?? Number.POSITIVE_INFINITY)
}

/** The bank wants them to confirm an upgrade's payment, and there is still time. */
export function upgradeWaits(plan: { upgradeUntil: number | null } | null, now: number): boolean {
  return now < (plan?.upgradeUntil ?? 0)
}

/** What kind of change this is; null if it isn't possible. */
export function changeOf(from: PlanType, to: string): 'upgrade' | 'downgrade' | null {
  if (from === BASIC.type && to === PREMIUM.type) return 'upgrade'
  return from === PREMIUM.type && to === BASIC.type ? 'downgrade' : null
}

export const CANCEL_FAILED = 'Failed to cancel subscription'
export const SUBSCRIPTION_CANCELLED = 'Your subscription has been cancelled and will not renew.'
