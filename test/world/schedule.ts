import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import type { HabitKind } from './habits.ts'
import { BEHAVIORS, type Behavior } from './people.ts'
import type { Weather } from './program.ts'

/** `edge`: until just before, at, or just after the next moment that a rule depends on. */
type Wait = number | 'edge'

/** One of these words, each as often as its number says. */
function weighted<const T extends string>(weights: Record<T, number>): fc.Arbitrary<T> {
  return fc.oneof(
    ...(Object.entries(weights) as [T, number][]).map(([word, weight]) => ({ weight, arbitrary: fc.constant(word) })),
  )
}

const anyWeather: fc.Arbitrary<Weather> = weighted({ calm: 12, rough: 5, storm: 2 })

const wait: fc.Arbitrary<Wait> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 5, arbitrary: fc.integer({ min: 20_000, max: 12 * MINUTE_MS }) },
  { weight: 3, arbitrary: fc.integer({ min: 12 * MINUTE_MS, max: 20 * HOUR_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: DAY_MS, max: 9 * DAY_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: 20 * DAY_MS, max: 40 * DAY_MS }) },
  { weight: 5, arbitrary: fc.constant('edge' as const) },
)

const kind = weighted({
  person: 61,
  cloud: 9,
  stripe: 6,
  operator: 4,
  deploy: 3,
  habit: 8,
  'plan change': 2,
  budget: 2,
  cards: 2,
  webhook: 2,
  console: 2,
  'sign-up': 2,
  'large server': 1,
  end: 2,
  program: 4,
})

export type Step = {
  wait: Wait
  weather: Weather
  kind: 'person' | HabitKind | 'cloud' | 'stripe' | 'operator' | 'deploy'
  who: number
  /** Decides everything else about the step, so that leaving other steps out changes nothing here. */
  luck: number
}

/** Everything that one seed decides. */
export type Schedule = {
  people: { behavior: Behavior; trial: boolean }[]
  places: number
  /** How long after the first of a 31-day month the world begins. */
  begins: number
  steps: Step[]
  /** Whether there is a bucket. Without it, nothing else changes. */
  files?: boolean
}

/** People who mostly wait in line. */
const lineKind = weighted({ line: 35, group: 10, person: 30, cloud: 10, operator: 5, console: 5, deploy: 5 })

/** People who come while machines are kept warm. */
const warmKind = fc.oneof(
  { weight: 35, arbitrary: fc.constant('warm' as const) },
  { weight: 30, arbitrary: fc.constant('person' as const) },
  { weight: 10, arbitrary: fc.constant('line' as const) },
  { weight: 10, arbitrary: fc.constant('cloud' as const) },
  { weight: 5, arbitrary: fc.constant('operator' as const) },
  { weight: 5, arbitrary: fc.constant('program' as const) },
  { weight: 5, arbitrary: fc.constant('deploy' as const) },
)

/** People who mostly care for their files. */
const filesKind = weighted({ files: 55, person: 20, cloud: 8, stripe: 4, deploy: 5 })

/** People who mostly run programs to their end. */
const programsKind = weighted({ program: 55, person: 20, cloud: 8, deploy: 5, console: 4, webhook: 4, stripe: 4 })

/** People whose cards pay usage. */
const moneyKind = weighted({ cards: 40, person: 30, stripe: 12, operator: 6, habit: 6, 'sign-up': 3, deploy: 3 })

/** People whose password someone else knows. */
const accountsKind = weighted({ thief: 80, person: 15, deploy: 5 })

type Size = {
  people: number
  places: fc.Arbitrary<number>
  steps: { minLength: number; maxLength: number }
  weather?: fc.Arbitrary<Weather>
}

function scheduled(
  wait: fc.Arbitrary<Wait>,
  { people, places, steps, weather = anyWeather }: Size,
  kinds: fc.Arbitrary<Step['kind']> = kind,
): fc.Arbitrary<Schedule> {
  const step = fc.record({
    wait,
    weather,
    kind: kinds,
    who: fc.nat({ max: people - 1 }),
    luck: fc.nat({ max: 0x7fffffff }),
  })
  const person = fc.record({ behavior: fc.constantFrom(...BEHAVIORS), trial: fc.boolean() })
  return fc.noBias(
    fc.record({
      people: fc.array(person, { minLength: people, maxLength: people }),
      places,
      begins: fc.integer({ min: 0, max: 31 * DAY_MS }),
      steps: fc.array(step, { ...steps, size: 'max' }),
    }),
  )
}

export const SCENARIOS = {
  /** Few people share few servers, from one second to the next and from one month to the next. */
  ordinary: scheduled(wait, {
    people: 3,
    places: fc.integer({ min: 1, max: 5 }),
    steps: { minLength: 6, maxLength: 24 },
  }),
  /** Twelve people's year, with a server for everyone. */
  year: scheduled(fc.oneof(fc.integer({ min: HOUR_MS, max: 6 * DAY_MS }), fc.constant('edge' as const)), {
    people: 12,
    places: fc.constant(12),
    steps: { minLength: 200, maxLength: 200 },
  }),
  /** Eight people wait for two or three servers. */
  line: scheduled(
    fc.integer({ min: 0, max: 10 * MINUTE_MS }),
    { people: 8, places: fc.integer({ min: 2, max: 3 }), steps: { minLength: 6, maxLength: 16 } },
    lineKind,
  ),
  /** Three people's cards and bank accounts pay usage, or don't. */
  money: scheduled(
    wait,
    { people: 3, places: fc.integer({ min: 3, max: 4 }), steps: { minLength: 3, maxLength: 9 } },
    moneyKind,
  ),
  /** Three people's files, on their servers and beside them. */
  files: scheduled(
    wait,
    { people: 3, places: fc.integer({ min: 2, max: 4 }), steps: { minLength: 4, maxLength: 14 } },
    filesKind,
  ).map((schedule) => ({ ...schedule, files: true })),
  /** Three people's programs, one after the other. */
  programs: scheduled(
    wait,
    { people: 3, places: fc.integer({ min: 2, max: 4 }), steps: { minLength: 3, maxLength: 8 } },
    programsKind,
  ),
  /** Three people's accounts, of which someone else knows the password. */
  accounts: scheduled(wait, { people: 3, places: fc.constant(3), steps: { minLength: 2, maxLength: 6 } }, accountsKind),
  /** Three people, and machines that wait for them. */
  warm: scheduled(
    wait,
    { people: 3, places: fc.integer({ min: 2, max: 5 }), steps: { minLength: 4, maxLength: 12 } },
    warmKind,
  ),
  /** A competition morning. In a storm, each call of the 500 would take seconds of their one clock. */
  competition: scheduled(
    fc.constant(0),
    {
      people: 500,
      places: fc.constant(20),
      steps: { minLength: 1, maxLength: 1 },
      weather: fc.constantFrom('calm', 'calm', 'rough'),
    },
    fc.constant('competition'),
  ),
} satisfies Record<string, fc.Arbitrary<Schedule>>
export type Scenario = keyof typeof SCENARIOS
