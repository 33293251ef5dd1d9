import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { TrialBanner } from '../../../src/islands/dashboard/TrialBanner.tsx'

test.each([
  [5.01, true, false],
  [5, true, true],
  [1, true, true],
  [0, false, true],
])('with %d minutes left, the banner leads to the plans only from 5 minutes on', (minutes, counting, leads) => {
  const html = renderToStaticMarkup(<TrialBanner minutesLeft={minutes} counting={counting} />)
  expect(html.includes('<a href="/subscriptions">Choose a plan</a>')).toBe(leads)
})

test('it says how long in one way', () => {
  const html = renderToStaticMarkup(<TrialBanner minutesLeft={4.98} counting />)
  expect(html.replaceAll('<!-- -->', '')).toContain('Free trial: <strong class="mono">4.98</strong> minutes left.')
  expect(html).not.toMatch(/\d:\d\d/)
})
