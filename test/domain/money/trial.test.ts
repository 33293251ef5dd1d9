import { expect, test } from 'vitest'
import { trialMinutesLeft } from '../../../src/domain/money/billing.ts'
import { countdownText, minutesText, TRIAL_LEVELS, trialLevel } from '../../../src/domain/money/trial.ts'

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

test('each second of a trial has a text of its own, with two decimals, that says how many are left', () => {
  const texts = Array.from({ length: 1_801 }, (_, used) => minutesText(trialMinutesLeft(used / 3600)))
  expect(new Set(texts).size).toBe(1_801)
  for (const [used, text] of texts.entries()) {
    expect(text).toMatch(/^\d\d?\.\d\d$/)
    expect(Math.round(Number(text) * 60)).toBe(1_800 - used)
  }
  expect([texts[0], texts[51], texts[1_799], texts[1_800], minutesText(-1)]).toEqual([
    '30.00',
    '29.15',
    '0.02',
    '0.00',
    '0.00',
  ])
})
