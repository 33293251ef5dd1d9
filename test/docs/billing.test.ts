import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { closeCycles } from '../../src/domain/money/closing.ts'
import { correctionTo } from '../../src/domain/money/correction.ts'
import { PLANS, type PlanType, TRIAL_MINUTES } from '../../src/domain/money/plan.ts'

type Example = {
  born: string
  plans: { type: PlanType; from: string; until?: string }[]
  runs: [string, string][]
  now: string
  bills: { from: string; to: string; seconds: number; dollars: number }[]
  /** For examples with a single bill. */
  corrected?: { to: number; seconds: number; dollars: number }
}

const page = readFileSync(join(import.meta.dirname, '../../docs/billing.md'), 'utf8')
const examples = [...page.matchAll(/^([^\n]*)\n\n```json\n(.*?)```/gms)].map(
  ([, title = '', json = '']) => [title, JSON.parse(json) as Example] as const,
)
const hoursOf = (type: PlanType) =>
  type === 'demo' ? TRIAL_MINUTES / 60 : (PLANS.find((plan) => plan.type === type)?.hours ?? 0)

describe('the worked examples of docs/billing.md', () => {
  test('are there', () => expect(examples).toHaveLength(5))

  test.each(examples)('%s', (_, example) => {
    const spans = example.plans.map(({ type, from, until }) => ({
      planType: type,
      subType: type === 'demo' ? ('demo' as const) : ('paid' as const),
      hours: hoursOf(type),
      anchor: Date.parse(from),
      endsAt: until ? Date.parse(until) : null,
    }))
    const runs = example.runs.map(([from, until]) => ({
      requestedAt: Date.parse(from) - 30_000,
      stopRequestedAt: Date.parse(until),
      billedFrom: Date.parse(from),
      confirmedAt: Date.parse(until),
      mustStopAt: null,
      endsAt: null,
      meteredUntil: Date.parse(until),
      endedAt: Date.parse(until) + 1_000,
    }))
    const { closed } = closeCycles(
      { from: Date.parse(example.born), closedAt: null, spans, runs },
      Date.parse(example.now),
    )
    const text = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')
    expect(
      closed.map(({ cycle, seconds, amountCents }) => ({
        from: text(cycle.start),
        to: text(cycle.end),
        seconds,
        dollars: amountCents / 100,
      })),
    ).toEqual(example.bills)
    for (const { to, seconds, dollars } of example.corrected ? [example.corrected] : []) {
      expect(closed).toHaveLength(1)
      const [bill] = closed.map(({ cycle, ...bill }) => ({ ...cycle, ...bill }))
      expect(bill && correctionTo(to, bill, [])).toEqual({ seconds, amountCents: Math.round(dollars * 100) })
    }
  })
})
