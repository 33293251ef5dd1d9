import { expect, test } from 'vitest'
import type { PlanType } from '../../src/domain/money/plan.ts'
import { choose, isEnvironmentName, smallestPlan, titleOf, whyNotChosen, worldsFor } from '../../src/domain/worlds.ts'

const EVERY: PlanType[] = ['demo', 'basic', 'premium', 'enterprise']
const CATALOG = [
  { name: 'Blocks', description: 'Boxes.', plans: EVERY },
  { name: 'Harbor', description: 'Ships.', plans: ['premium', 'enterprise'] as PlanType[] },
  { name: 'Mountains', description: 'Hills.', plans: EVERY },
]

test('a plan includes the environments that name it, and all but Premium and Enterprise one vehicle at a time', () => {
  const { environments, vehicles } = worldsFor('basic', CATALOG)
  expect(environments.map(({ name, available }) => [name, available])).toEqual([
    ['Blocks', true],
    ['Harbor', false],
    ['Mountains', true],
  ])
  expect(vehicles).toEqual([
    { name: 'uav', plans: EVERY, available: true },
    { name: 'ugv', plans: EVERY, available: true },
    { name: 'multi', plans: ['premium', 'enterprise'], available: false },
  ])
  const multiOn = (plan: PlanType) => worldsFor(plan, []).vehicles.at(-1)?.available
  expect(EVERY.map(multiOn)).toEqual([false, false, true, true])
})

test.each<[string, string | null, string | null, string | undefined]>([
  ['what was named, in any case', 'mountains', 'Blocks', 'Mountains'],
  ['nothing that the plan does not include', 'Harbor', 'Blocks', undefined],
  ['nothing that does not exist', 'Moon', 'Blocks', undefined],
  ['the last choice', null, 'Mountains', 'Mountains'],
  ['the first instead of a last choice that the plan no longer includes', null, 'Harbor', 'Blocks'],
  ['the first instead of a last choice that is gone', null, 'Moon', 'Blocks'],
  ['the first without a last choice', null, null, 'Blocks'],
])('a start gets %s', (_, named, last, chosen) => {
  expect(choose(worldsFor('basic', CATALOG).environments, named, last)?.name).toBe(chosen)
})

test('without anything to choose, nothing is chosen', () => {
  expect(choose(worldsFor('demo', []).environments, null, 'Blocks')).toBeUndefined()
})

test.each<[PlanType, 'environment' | 'vehicle', string, string]>([
  ['basic', 'environment', 'harbor', 'Harbor needs Premium. Basic includes Blocks and Mountains.'],
  [
    'demo',
    'environment',
    'Moon',
    'There is no environment called "Moon". The free trial includes Blocks and Mountains.',
  ],
  [
    'premium',
    'environment',
    'a b',
    'There is no environment with this name. Premium includes Blocks, Harbor, and Mountains.',
  ],
  ['demo', 'vehicle', 'multi', 'Multi-vehicle needs Premium. The free trial includes UAV and UGV.'],
  ['basic', 'vehicle', 'boat', 'There is no vehicle called "boat". Basic includes UAV and UGV.'],
])('on %s, the %s %s is refused in a sentence', (plan, what, name, sentence) => {
  const { environments, vehicles } = worldsFor(plan, CATALOG)
  expect(whyNotChosen(what, what === 'vehicle' ? vehicles : environments, name, plan)).toBe(sentence)
})

test('says so when a plan has nothing to choose from', () => {
  expect(whyNotChosen('environment', [], 'Moon', 'basic')).toBe(
    'There is no environment called "Moon". Basic includes none right now.',
  )
})

test('names the smallest plan that includes something', () => {
  expect(smallestPlan({ plans: ['enterprise', 'premium'] })).toBe('Premium')
  expect(smallestPlan({ plans: EVERY })).toBe('Free trial')
  expect(smallestPlan({ plans: [] })).toBe('Enterprise')
})

test('calls vehicles as people do', () => {
  expect(['uav', 'ugv', 'multi', 'Harbor'].map((name) => titleOf({ name }))).toEqual([
    'UAV',
    'UGV',
    'Multi-vehicle',
    'Harbor',
  ])
})

test.each(['Blocks', 'a', 'City-2_b', 'x'.repeat(40)])('an environment can be called %s', (name) => {
  expect(isEnvironmentName(name)).toBe(true)
})

test.each([
  '',
  ' Blocks',
  'City Park',
  '2nd',
  '-x',
  '_x',
  'x'.repeat(41),
  'a\n',
  'a$b',
  'a%b',
  'a"b',
  "a'b",
  'a=b',
  'a/b',
  'Zürich',
])('an environment cannot be called %j', (name) => {
  expect(isEnvironmentName(name)).toBe(false)
})
