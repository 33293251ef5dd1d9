import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { MOST_ENDS } from '../../src/domain/drift.ts'
import { loadError } from '../../src/domain/instance.ts'
import { INSTANCE_COLUMNS, type InstanceView, NEWEST_FIRST, pageInstances } from '../../src/domain/instance-view.ts'
import type { Instance } from '../../src/domain/wire/fleet.ts'
import { Drift } from '../../src/pages/admin/Drift.tsx'
import { Console } from '../../src/pages/Console.tsx'
import { ConsoleMessages } from '../../src/pages/ConsoleMessages.tsx'
import { manyInstances } from '../../testing/instances.ts'

const NOW = Date.UTC(2026, 10, 21, 2, 17, 33)
const props = { now: NOW, error: null, view: NEWEST_FIRST }
const shown = (instances: Instance[], view: InstanceView = NEWEST_FIRST) => pageInstances(instances, view, NOW)
const text = (html: string) => html.replaceAll(/<!--.*?-->/g, '').replaceAll(/<[^>]*>/g, ' ')

test('shows 50 of 2,000 instances, each under every column of the specification, with totals for all', () => {
  const html = renderToString(<Console {...props} shown={shown(manyInstances(2000, NOW))} />)
  expect(html.match(/<tr>/g)).toHaveLength(51)
  for (const words of ['Rows 1–50 of 2,000', '2,000 of 2,000', 'of 2,000 instances'])
    expect(text(html)).toContain(words)
  expect(html).toContain('href="/console?page=2"')
  expect(html).toContain('href="/console?show=impaired"')
  expect(html).toContain('href="/admin/runs/ses_run-00000"')
  expect(html).toContain('href="/admin/people/user_pilot-0"')
  const [head = '', first = ''] = html.match(/<tr>.*?<\/tr>/g) ?? []
  expect([...head.matchAll(/<a[^>]*>([^<]+)<\/a>/g)].map(([, label]) => label)).toEqual([
    ...['Name', 'Instance ID', 'Type', 'State', 'Status', 'Private IP', 'Public IP', 'Launch Time', 'Uptime'],
    ...['Owner', 'Cost so far'],
  ])
  expect(head).toMatch(/aria-sort="descending"><a href="[^"]*">Launch Time/)
  expect(first.match(/<t[hd]/g)).toHaveLength(INSTANCE_COLUMNS.length)
  expect(
    text(first)
      .split(/\s{2,}/)
      .filter(Boolean),
  ).toEqual([
    ...[
      'proving-ground ses_run-00000',
      'i-00000000000001000',
      'g6.4xlarge',
      'Blocks, UAV',
      'running',
      'ok',
      '172.31.0.0',
      '127.0.0.1',
    ],
    ...['Nov 21, 02:10 UTC', '7m 0s', 'pilot-0@example.com', '$0.00'],
  ])
})

test("states and health have the specification's colors, and say it in words", () => {
  const [some] = manyInstances(1, NOW)
  if (!some) throw new Error('no instance')
  const badges = (state: string, status_check: string | null) => {
    const html = renderToString(<Console {...props} shown={shown([{ ...some, state, status_check }])} />)
    return [...html.matchAll(/badge badge-(\w+)">([^<]+)</g)].map(([, color, word]) => `${word} ${color}`)
  }
  expect(badges('running', 'ok')).toEqual(['running green', 'ok green'])
  expect(badges('shutting-down', 'impaired')).toEqual(['shutting-down yellow', 'impaired red'])
  expect(badges('rebooting', 'insufficient-data')).toEqual(['rebooting dark', 'insufficient-data yellow'])
  expect(badges('terminated', null)).toEqual(['terminated gray'])
})

test('no instances, no match, and no answer each say so', () => {
  expect(text(renderToString(<Console {...props} shown={shown([])} />))).toContain('No instances found.')
  const view = { ...NEWEST_FIRST, filter: 'zeppelin' }
  const unmatched = renderToString(<Console {...props} view={view} shown={shown(manyInstances(3, NOW), view)} />)
  expect(text(unmatched)).toContain('No instances match this filter.')
  expect(text(unmatched)).toContain('0 of 3')
  const down = text(renderToString(<Console {...props} shown={null} error={loadError(503, 'It did not answer.')} />))
  expect(down).toContain('Error: HTTP 503')
  expect(down).toContain('It did not answer.')
  expect(down).not.toContain('No instances found.')
  expect(down).not.toContain('Updated')
})

test("a stranger's text is text, not markup", () => {
  const message = { id: 'msg_1', kind: 'sales' as const, name: '<b>Eve</b>', email: 'eve@example.com' }
  const html = renderToString(
    <ConsoleMessages
      older="2026-11-21T00:00:00.000Z_msg_1"
      messages={[
        { ...message, source: 'Referral', message: '<script>1</script>', created_at: '2026-11-21T02:17:33.000Z' },
        {
          ...message,
          id: 'req_1',
          kind: 'more_servers',
          source: null,
          message: null,
          created_at: '2026-11-20T02:17:33.000Z',
        },
      ]}
    />,
  )
  expect(html).not.toMatch(/<b>|<script/)
  expect(text(html)).toContain('via Referral')
  expect(text(html)).toContain('Nov 21, 2026, 02:17 UTC')
  expect(text(html)).toContain('Wants to run more than one server')
  expect(html).toContain('before=2026-11-21T00%3A00%3A00.000Z_msg_1')
})

test("an address can't add a recipient or words to our reply", () => {
  const typed = { id: 'msg_1', kind: 'sales' as const, name: 'Bob', source: 'Other', message: 'Hi' }
  const hrefs = [
    'bob+sim@rival.example?bcc=eve%40evil.example&body=Yes.',
    'bob?bcc=eve%40evil.example&to=@rival.example',
  ].map((email) => {
    const message = { ...typed, email, created_at: '2026-11-21T02:17:33.000Z' }
    const html = renderToString(<ConsoleMessages older={null} messages={[message]} />)
    return { email, href: new URL(/href="(mailto:[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '') }
  })
  for (const { email, href } of hrefs) {
    expect(decodeURIComponent(href.pathname)).toBe(email)
    expect(href.search).toBe('')
  }
})

test('offers to end as many instances as one form may', () => {
  const orphan = { type: 'g6.4xlarge', launched_at: null, run: null, user: null }
  const acting = { csrfToken: 'x', actId: 'act_1', flash: null, confirmAt: null }
  const offered = (count: number) => {
    const instances = Array.from({ length: count }, (_, i) => ({ ...orphan, id: `i-${i}` }))
    const drift = { instances, runs: [], jobs: [], differing: [] }
    const html = renderToString(<Drift drift={drift} error={null} acting={acting} />)
    return [/[^<>]*in the table/.exec(html)?.[0], html.match(/name="listed/g)?.length]
  }
  expect(offered(MOST_ENDS)).toEqual(['All 200 in the table', MOST_ENDS])
  expect(offered(MOST_ENDS + 1)).toEqual(['The first 200 of 201 in the table', MOST_ENDS])
})
