import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Turn } from '../../../src/islands/line/Turn.tsx'

const NOW = Date.UTC(2026, 10, 25, 9)
const LINE = { size: 1, position: 0, estimate_seconds: null, starts_by_itself: false }

test('never shows more time than is left', () => {
  const shown = (ms: number) => {
    const line = { ...LINE, held_until: new Date(NOW + ms).toISOString() }
    const html = renderToString(<Turn line={line} now={NOW} chosen={{}} csrfToken="" onLeave={() => {}} />)
    return /\d\d:\d\d/.exec(html)?.[0]
  }
  // Five minutes are the most, but the browser's clock ticks once a second only.
  expect([300_900, 300_000, 999, 0, -5_000].map(shown)).toEqual(['05:00', '05:00', '00:00', '00:00', '00:00'])
})
