// @vitest-environment happy-dom
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import type { Estimate } from '../../../src/domain/estimate.ts'
import { STARTING, STOPPING } from '../../../src/domain/server-list.ts'
import type { Job } from '../../../src/domain/wire/fleet.ts'
import { NoticeAlert } from '../../../src/islands/dashboard/NoticeAlert.tsx'
import { mount } from '../../../testing/browser/hooks.ts'

const CREATED = '2026-11-21T09:30:00.000Z'
const job = { id: 'job_1', kind: 'server_start', status: 'running', progress: 'Booting…', created_at: CREATED } as Job
const nothing = () => {}

const shown = (text: string, seconds: number, change: Partial<Job> = {}, usual?: Estimate) =>
  renderToStaticMarkup(
    <NoticeAlert
      notice={{ kind: 'info', text, job: 'job_1' }}
      job={{ ...job, ...change }}
      now={Date.parse(CREATED) + seconds * 1000}
      usual={usual}
      onDismiss={nothing}
      onStart={null}
      mayWait
    />,
  )

test('a start promises 30 seconds for 30 seconds, then only what is true', () => {
  expect(shown(STARTING, 0)).toContain(STARTING)
  expect(shown(STARTING, 30)).toContain(STARTING)
  expect(shown(STARTING, 31)).not.toContain(STARTING)
  expect(shown(STARTING, 31)).toContain('Still starting. Nothing is billed.')
  expect(shown(STARTING, 31)).toContain('Booting…')
  expect(shown(STARTING, 31)).not.toContain('usual')
})

test('shows how long such starts usually take, and says once nine in ten were ready', () => {
  const usual = { p50: 70, p90: 100 }
  expect(shown(STARTING, 12, {}, usual)).toContain('12s, usually 1m 10s')
  expect(shown(STARTING, 100, {}, usual)).toContain('Still starting. Nothing is billed.')
  expect(shown(STARTING, 101, {}, usual)).toContain('Taking longer than usual. Nothing is billed.')
  // The specification's sentence stays for its 30 seconds.
  expect(shown(STARTING, 30, {}, { p50: 9, p90: 12 })).toContain(STARTING)
  expect(shown(STOPPING, 12, { kind: 'server_stop' }, usual)).not.toContain('usually')
})

test('screen readers hear that the image loads, and not each percent', () => {
  const html = shown(STARTING, 5, { progress: 'Loading your image, 42%, about 1m 40s…' })
  expect(html).toContain('<span class="visually-hidden">Loading your image…</span>')
  expect(html).toContain('<span aria-live="off">Loading your image, 42%, about 1m 40s…</span>')
})

test('a stop promises nothing, so its sentence stays', () => {
  expect(shown(STOPPING, 300, { kind: 'server_stop' })).toContain(STOPPING)
})

test('shows no seconds if the time of the job is unknown', () => {
  const html = shown(STARTING, 5, { created_at: '' })
  expect(html).toContain(STARTING)
  expect(html).not.toContain('NaN')
})

test('a refusal comes into view, and so does the next one; good news leaves the page where it is', async () => {
  const scroll = vi.spyOn(HTMLElement.prototype, 'scrollIntoView').mockReturnValue()
  const told = (kind: 'danger' | 'success', text: string) => (
    <NoticeAlert
      notice={{ kind, text, job: null }}
      job={null}
      now={0}
      usual={undefined}
      onDismiss={nothing}
      onStart={null}
      mayWait={false}
    />
  )
  const { render } = await mount(told('success', 'Your server has stopped.'))
  expect(scroll).not.toHaveBeenCalled()
  await render(told('danger', 'The end must be in the future.'))
  await render(told('danger', 'The end must be in the future.'))
  expect(scroll).toHaveBeenCalledTimes(2)
  expect(scroll.mock.contexts[0]).toHaveProperty('className', 'notices')
})
