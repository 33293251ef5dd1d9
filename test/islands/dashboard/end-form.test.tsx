import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Server } from '../../../src/domain/wire.ts'
import { EndForm } from '../../../src/islands/dashboard/EndForm.tsx'

const MINUTE = 60_000

const forms = (endsAt: number | null, latest: number | null) => {
  const server = { id: 'ses_1', ends_at: endsAt === null ? null : new Date(endsAt).toISOString() } as Server
  const html = renderToStaticMarkup(<EndForm server={server} now={0} csrfToken="t" onMove={() => {}} latest={latest} />)
  return html.match(/<form.*?<\/form>/g) ?? []
}

test('in a trial of 30 minutes, there is no form without a button', () => {
  expect(forms(null, 30 * MINUTE)).toHaveLength(1)
  expect(forms(10 * MINUTE, 30 * MINUTE)[0]).toContain('No end')
  expect(forms(null, null)[0]).toContain('Stop in 1 h')
  for (const form of [...forms(null, 30 * MINUTE), ...forms(10 * MINUTE, 30 * MINUTE), ...forms(null, null)])
    expect(form).toContain('<button')
})
