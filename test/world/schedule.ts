import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import type { HabitKind } from './habits.ts'
import { BEHAVIORS, type Behavior } from './people.ts'
import type { Weather } from './program.ts'

/** `edge`: until just before, at, or just after the next moment that a rule depends on. */
type Wait = number | 'edge'

const anyWeather: fc.Arbitrary<Weather> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('calm' as const) },
  { weight: 5, arbitrary: fc.constant('rough' as const) },
  { weight: 2, arbitrary: fc.constant('storm' as const) },
)

const wait: fc.Arbitrary<Wait> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 5, arbitrary: fc.integer({ min: 20_000, max: 12 * MINUTE_MS }) },
  { weight: 3, arbitrary: fc.integer({ min: 12 * MINUTE_MS, max: 20 * HOUR_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: DAY_MS, max: 9 * DAY_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: 20 * DAY_MS, max: 40 * DAY_MS }) },
  { weight: 5, arbitrary: fc.constant('edge' as const) },
)

const kind = fc.oneof(
  { weight: 61, arbitrary: fc.constant('person' as const) },
  { weight: 9, arbitrary: fc.constant('cloud' as const) },
  { weight: 6, arbitrary: fc.constant('stripe' as const) },
  { weight: 4, arbitrary: fc.constant('operator' as const) },
  { weight: 3, arbitrary: fc.constant('deploy' as const) },
  { weight: 8, arbitrary: fc.constant('habit' as const) },
  { weight: 2, arbitrary: fc.constant('plan change' as const) },
  { weight: 2, arbitrary: fc.constant('budget' as const) },
  { weight: 2, arbitrary: fc.constant('cards' as const) },
  { weight: 2, arbitrary: fc.constant('webhook' as const) },
  { weight: 2, arbitrary: fc.constant('console' as const) },
  { weight: 2, arbitrary: fc.constant('sign-up' as const) },
  { weight: 1, arbitrary: fc.constant('large server' as const) },
  { weight: 2, arbitrary: fc.constant('end' as const) },
  { weight: 4, arbitrary: fc.constant('program' as const) },
)

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
const lineKind = fc.oneof(
  { weight: 35, arbitrary: fc.constant('line' as const) },
  { weight: 10, arbitrary: fc.constant('group' as const) },
  { weight: 30, arbitrary: fc.constant('person' as const) },
  { weight: 10, arbitrary: fc.constant('cloud' as const) },
  { weight: 5, arbitrary: fc.constant('operator' as const) },
  { weight: 5, arbitrary: fc.constant('console' as const) },
  { weight: 5, arbitrary: fc.constant('deploy' as const) },
)

/** People who mostly care for their files. */
const filesKind = fc.oneof(
  { weight: 55, arbitrary: fc.constant('files' as const) },
  { weight: 20, arbitrary: fc.constant('person' as const) },
  { weight: 8, arbitrary: fc.constant('cloud' as const) },
  { weight: 4, arbitrary: fc.constant('stripe' as const) },
  { weight: 5, arbitrary: fc.constant('deploy' as const) },
)

/** People who mostly run programs to their end. */
const programsKind = fc.oneof(
  { weight: 55, arbitrary: fc.constant('program' as const) },
  { weight: 20, arbitrary: fc.constant('person' as const) },
  { weight: 8, arbitrary: fc.constant('cloud' as const) },
  { weight: 5, arbitrary: fc.constant('deploy' as const) },
  { weight: 4, arbitrary: fc.constant('console' as const) },
  { weight: 4, arbitrary: fc.constant('webhook' as const) },
  { weight: 4, arbitrary: fc.constant('stripe' as const) },
)

/** People whose cards pay usage. */
const moneyKind = fc.oneof(
  { weight: 40, arbitrary: fc.constant('cards' as const) },
  { weight: 30, arbitrary: fc.constant('person' as const) },
  { weight: 12, arbitrary: fc.constant('stripe' as const) },
  { weight: 6, arbitrary: fc.constant('operator' as const) },
  { weight: 6, arbitrary: fc.constant('habit' as const) },
  { weight: 3, arbitrary: fc.constant('sign-up' as const) },
  { weight: 3, arbitrary: fc.constant('deploy' as const) },
)

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
