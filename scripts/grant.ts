import { PLANS, type PlanType, planOffered, TRIAL_MINUTES } from '../src/domain/money/plan.ts'
import { endGrantedPlan, grantPlan, setAdmin } from '../src/server/billing/plans/grants.ts'
import { removeFactors } from '../src/server/operations/remove-factors.ts'
import { ENV, NEEDS_DATABASE, openHand, readArguments, runCommand } from './arguments.ts'

const USAGE = `Usage, ${NEEDS_DATABASE}:
  npm run grant -- plan <email> <demo|basic|premium|enterprise> [--hours <n>] [--reason "<why>"]
  npm run grant -- end <email> [--reason "<why>"]
  npm run grant -- admin <email> [--reason "<why>"]
  npm run grant -- no-admin <email> [--reason "<why>"]
  npm run grant -- no-factor <email> --reason "<why>"`

await runCommand(async () => {
  await run()
  return 'Done.'
})

async function run(): Promise<void> {
  const { positionals, values } = readArguments(USAGE, {
    allowPositionals: true,
    options: { ...ENV, hours: { type: 'string' }, reason: { type: 'string' } },
  })
  const [command, email = '', planType = ''] = positionals
  if (!email) throw new Error(USAGE)
  const hand = { ...openHand(USAGE, values.env), by: { id: 'script', reason: values.reason ?? '' } }
  const address = email.trim().toLowerCase()
  if (command === 'plan')
    return grantPlan(hand, address, { type: planOf(planType), hours: hoursOf(planType, values.hours) })
  if (command === 'end') {
    if (!(await endGrantedPlan(hand, address))) throw new Error('This account has no trial or granted plan.')
    return
  }
  if (command === 'admin' || command === 'no-admin') return setAdmin(hand, address, command === 'admin')
  if (command === 'no-factor' && values.reason?.trim()) return removeFactors(hand, address)
  throw new Error(USAGE)
}

function planOf(type: string): PlanType {
  if (type === 'demo' || PLANS.some((plan) => plan.type === type)) return type as PlanType
  throw new Error(USAGE)
}

function hoursOf(type: string, typed: string | undefined): number {
  if (typed === undefined) return type === 'demo' ? TRIAL_MINUTES / 60 : (planOffered(type)?.hours ?? 0)
  const hours = Number(typed)
  if (!Number.isFinite(hours) || hours < 0) throw new Error('--hours must be a number of hours, 0 or more.')
  return hours
}
