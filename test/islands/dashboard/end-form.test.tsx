import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { EndForm } from '../../../src/islands/dashboard/EndForm.tsx'
import { EndQuestion } from '../../../src/islands/dashboard/EndQuestion.tsx'

const MINUTE = 60_000

const forms = (endsAt: number | null, latest: number | null) => {
  const server = { id: 'ses_1', ends_at: endsAt === null ? null : new Date(endsAt).toISOString() } as Server
  const html = renderToStaticMarkup(<EndForm server={server} now={0} csrfToken="t" onMove={() => {}} latest={latest} />)
  return html.match(/<form.*?<\/form>/g) ?? []
}

test('after a purchase, a plain form asks when the server stops, 4 hours ahead at first', () => {
  const server = { id: 'ses_1', ends_at: new Date(200 * MINUTE).toISOString() } as Server
  const html = renderToStaticMarkup(<EndQuestion server={server} now={0} csrfToken="t" onMove={() => {}} />)
  expect(html).toContain('<form class="row" action="/api/v1/servers/ses_1" method="post">')
  const options = [...html.matchAll(/<option value="([^"]*)"( selected="")?>(.*?)<\/option>/g)]
  expect(
    options.map(([, value, selected, text]) => [value, Boolean(selected), text?.replaceAll('<!-- -->', '')]),
  ).toEqual([
    ['1970-01-01T01:00:00.000Z', false, 'In 1 h'],
    ['1970-01-01T02:00:00.000Z', false, 'In 2 h'],
    ['1970-01-01T04:00:00.000Z', true, 'In 4 h'],
    ['1970-01-01T08:00:00.000Z', false, 'In 8 h'],
    ['', false, 'When I stop it'],
  ])
})

test('in a trial of 30 minutes, there is no form without a button', () => {
  expect(forms(null, 30 * MINUTE)).toHaveLength(1)
  expect(forms(10 * MINUTE, 30 * MINUTE)[0]).toContain('No end')
  expect(forms(null, null)[0]).toContain('Stop in 1 h')
  for (const form of [...forms(null, 30 * MINUTE), ...forms(10 * MINUTE, 30 * MINUTE), ...forms(null, null)])
    expect(form).toContain('<button')
})
