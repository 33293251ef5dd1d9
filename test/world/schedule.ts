import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { BEHAVIORS } from './people.ts'

/** `edge`: until just before, at, or just after the next moment that a rule depends on. */
type Wait = number | 'edge'

const weather = fc.oneof(
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
  { weight: 66, arbitrary: fc.constant('person' as const) },
  { weight: 9, arbitrary: fc.constant('cloud' as const) },
  { weight: 6, arbitrary: fc.constant('stripe' as const) },
  { weight: 4, arbitrary: fc.constant('operator' as const) },
  { weight: 3, arbitrary: fc.constant('deploy' as const) },
  { weight: 2, arbitrary: fc.constant('habit' as const) },
)

const step = fc.record({
  wait,
  weather,
  kind,
  who: fc.nat({ max: 2 }),
  /** Decides everything else about the step, so that leaving other steps out changes nothing here. */
  luck: fc.nat({ max: 0x7fffffff }),
})
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Everything that one seed decides. */
export const schedule = fc.noBias(
  fc.record({
    people: fc.array(fc.record({ behavior: fc.constantFrom(...BEHAVIORS), trial: fc.boolean() }), {
      minLength: 3,
      maxLength: 3,
    }),
    places: fc.integer({ min: 1, max: 5 }),
    /** The world begins so long after the first of a month with 31 days. */
    begins: fc.integer({ min: 0, max: 31 * DAY_MS }),
    steps: fc.array(step, { minLength: 6, maxLength: 28, size: 'max' }),
  }),
)
export type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never
