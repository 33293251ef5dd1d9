import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordCents } from '../../../src/domain/money/billing.ts'
import { correctionTo } from '../../../src/domain/money/correction.ts'

test('a record plus its corrections equals the record that the last correction requested', () => {
  const seconds = fc.nat(31 * 86_400)
  const cycle = fc.record({ includedHours: fc.constantFrom(0, 0.5, 5, 30), trial: fc.boolean() })
  fc.assert(
    fc.property(cycle, seconds, fc.array(seconds, { minLength: 1 }), (cycle, first, targets) => {
      const record = { ...cycle, seconds: first, amountCents: recordCents(first, cycle) }
      const corrections: ReturnType<typeof correctionTo>[] = []
      for (const target of targets) corrections.push(correctionTo(target, record, corrections))
      const all = [record, ...corrections]
      const last = targets.at(-1) ?? 0
      expect(all.reduce((sum, one) => sum + one.seconds, 0)).toBe(last)
      expect(all.reduce((sum, one) => sum + one.amountCents, 0)).toBe(recordCents(last, cycle))
    }),
  )
})
