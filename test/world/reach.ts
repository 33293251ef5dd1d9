/** Rare states that a run of 2,000 seeds must see at least 10 times each. Otherwise the generator is at fault. */
export const REACH = [
  'refused after launch',
  'launch carried out late',
  'job failed: launch_refused',
  'job failed: no_capacity',
  'job failed: timeout',
  'job failed: instance_lost',
  'job failed: no_answer',
  'job failed: suspended',
  'stop during launch',
  'stop while the image loads',
  'instance vanished',
  'wrong region',
  'log: alert instances_unseen',
  'trial over',
  'end set by its user',
  'place set aside',
  'place retired in use',
  'fleet full',
  'start limit reached',
  'plan known before its checkout',
  'webhook doubled',
  'webhook late',
  'webhook lost',
  'checkout reopened',
  'checkout reopened for days',
  'log: alert second_plan_canceled',
  'plan granted',
  'plan unpaid',
  'plan paid late',
  'plan canceled',
  'plan ended in the dashboard',
  'suspended',
  'suspension lifted',
  'warned',
  'closed with a server',
  'closed at the edge of a cycle',
  'closed with an open checkout',
  'paid for a plan after closing',
  'bill corrected',
  'bill credited',
  'invoice uncollectible',
  'invoice voided',
  'answer lost, and its key forgotten',
  'trigger doubled',
  'program ended before a call',
  'program ended after a call',
  'deploy in the middle',
  'database lost before commit',
  'database lost after commit',
  'alarm came late',
  'mail lost',
  'call repeated',
  'answer to a call lost',
  'call repeated after a lost answer',
]

const ENOUGH = { seeds: 2_000, times: 10 }

/** Fewer seeds need correspondingly fewer. */
export function whatIsMissing(reached: Map<string, number>, seeds: number): string[] {
  const enough = Math.ceil((ENOUGH.times * Math.min(seeds, ENOUGH.seeds)) / ENOUGH.seeds)
  return REACH.flatMap((state) => {
    const times = reached.get(state) ?? 0
    return times < enough
      ? [`"${state}" was seen ${times} times, which proves little: at least ${enough} are wanted`]
      : []
  })
}
