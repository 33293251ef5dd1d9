import { expect, test } from 'vitest'
import { countdownText, TRIAL_LEVELS, trialLevel } from '../../../src/domain/money/trial.ts'

test.each([
  [30, 'enough', 'info'],
  [5.001, 'enough', 'info'],
  [5, 'low', 'warning'],
  [1.001, 'low', 'warning'],
  [1, 'last', 'danger'],
  [0.001, 'last', 'danger'],
  [0, 'over', 'warning'],
])('with %d minutes left, the trial is %s and looks like a %s', (minutes, level, kind) => {
  expect(trialLevel(minutes)).toBe(level)
  expect(TRIAL_LEVELS[trialLevel(minutes)].kind).toBe(kind)
})

test('announces only the two levels before the end', () => {
  const news = Object.fromEntries(Object.entries(TRIAL_LEVELS).map(([level, { news }]) => [level, news]))
  expect(news).toEqual({
    enough: '',
    low: 'Your free trial ends in 5 minutes.',
    last: 'Your free trial ends in 1 minute.',
    over: '',
  })
})

test.each([
  [0, '00:00'],
  [-3, '00:00'],
  [9.9, '00:09'],
  [60, '01:00'],
  [271, '04:31'],
  [1800, '30:00'],
])('%d seconds count down as %s', (seconds, text) => {
  expect(countdownText(seconds)).toBe(text)
})
