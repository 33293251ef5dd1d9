import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ANSWER_DEADLINE_MS,
  canStop,
  endedBecause,
  formatUptime,
  isEnding,
  isLive,
  START_DEADLINE_MS,
  serverStatus,
  serverStatusColor,
} from '../../src/domain/server.ts'

const flags = (active: boolean, pending: boolean, stopping: boolean, error_message: string | null = null) => ({
  active,
  pending,
  stopping,
  error_message,
})

test.each([
  [flags(true, false, false), 'running', 'green'],
  [flags(false, true, false), 'provisioning', 'yellow'],
  [flags(true, false, true), 'stopping', 'yellow'],
  [flags(false, true, true), 'stopping', 'yellow'],
  [flags(false, false, false), 'stopped', 'gray'],
  [flags(false, false, true), 'stopped', 'gray'],
  [flags(false, false, false, 'No capacity.'), 'error', 'red'],
  // An old error does not hide that the server runs.
  [flags(true, false, false, 'No capacity.'), 'running', 'green'],
])('shows %j as %s in %s', (server, status, color) => {
  expect(serverStatus(server)).toBe(status)
  expect(serverStatusColor(serverStatus(server))).toBe(color)
})

test.each([
  ['you', '2026-11-21T09:30:00Z', 'Ended by you'],
  ['you', null, 'Cancelled by you'],
  ['trial_over', '2026-11-21T09:30:00Z', 'Free minutes used up'],
  ['time_up', '2026-11-21T09:30:00Z', 'Ended as scheduled'],
  ['budget', '2026-11-21T09:30:00Z', 'Your budget was used up'],
  ['exited', '2026-11-21T09:30:00Z', 'Its program ended with code 3'],
  ['failure', null, null],
  [null, '2026-11-21T09:30:00Z', null],
] as const)('a run that ended because of %s, started at %s, says %s', (ended_because, startedAt, words) => {
  expect(endedBecause({ ended_because, exit_code: 3, startedAt })).toBe(words)
})

test('only a live run that is not stopping can be stopped', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.boolean(), (active, pending, stopping) => {
      const server = flags(active, pending, stopping)
      expect(canStop(server)).toBe((active || pending) && !stopping)
      expect(isLive(server)).toBe(!['stopped', 'error'].includes(serverStatus(server)))
    }),
  )
})

test.each([
  [0, '0s'],
  [5.9, '5s'],
  [59, '59s'],
  [60, '1m 0s'],
  [3_600, '1h 0m 0s'],
  [86_399, '23h 59m 59s'],
  [183_605, '2d 3h 0m 5s'],
  [-3, '0s'],
])('writes an uptime of %d s as %s', (seconds, text) => {
  expect(formatUptime(seconds)).toBe(text)
})

test('an uptime can be parsed back to the second', () => {
  const unit: Record<string, number> = { d: 86_400, h: 3_600, m: 60, s: 1 }
  fc.assert(
    fc.property(fc.nat(10_000_000), (seconds) => {
      const parts = formatUptime(seconds).split(' ')
      expect(parts.reduce((sum, part) => sum + Number(part.slice(0, -1)) * (unit[part.slice(-1)] ?? 0), 0)).toBe(
        seconds,
      )
      expect(parts[0]?.startsWith('0') && parts.length > 1).toBe(false)
    }),
  )
})

test('a start gives up after ten minutes, as does a server that runs but does not answer', () => {
  expect([START_DEADLINE_MS, ANSWER_DEADLINE_MS]).toEqual([600_000, 600_000])
})

test('an end is near in its last ten minutes, unless it was near from the start or a trial ends first', () => {
  const at = (minutes: number) => Date.parse('2026-11-24T15:00:00.000Z') + minutes * 60_000
  const server = (minutes: number | null, stopping = false) => ({
    requested_at: new Date(at(0)).toISOString(),
    ends_at: minutes === null ? null : new Date(at(minutes)).toISOString(),
    stopping,
  })
  expect(isEnding(server(60), at(50) - 1, null)).toBe(false)
  expect(isEnding(server(60), at(50), null)).toBe(true)
  expect(isEnding(server(60, true), at(50), null)).toBe(false)
  expect(isEnding(server(10), at(5), null)).toBe(false)
  expect(isEnding(server(null), at(50), null)).toBe(false)
  expect(isEnding(server(60), at(50), at(60))).toBe(false)
  expect(isEnding(server(60), at(50), at(61))).toBe(true)
})
