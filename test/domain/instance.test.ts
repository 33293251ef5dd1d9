import { expect, test } from 'vitest'
import { fleetFigures, healthColor, instanceStateColor, instanceUptime, loadError } from '../../src/domain/instance.ts'
import type { Instance } from '../../src/domain/wire/fleet.ts'

test('states and health have the colors of the specification', () => {
  const states = ['running', 'stopped', 'terminated', 'stopping', 'pending', 'shutting-down', 'rebooting']
  expect(states.map(instanceStateColor)).toEqual(['green', 'gray', 'gray', 'yellow', 'yellow', 'yellow', 'dark'])
  expect(['ok', 'impaired', 'insufficient-data', 'initializing', '', null].map(healthColor)).toEqual([
    'green',
    'red',
    'yellow',
    'gray',
    'gray',
    'gray',
  ])
})

test('running instances have whole seconds of uptime, all others none', () => {
  const launch_time = '2028-01-01T00:00:00.500Z'
  const at = (state: string, now: string, launch: string | null = launch_time) =>
    instanceUptime({ state, launch_time: launch }, Date.parse(now))
  expect(at('running', '2028-01-01T00:01:00.000Z')).toBe(59)
  expect(at('stopping', '2028-01-01T00:00:02.999Z')).toBe(1)
  expect(at('shutting-down', '2028-01-01T00:00:01.999Z')).toBe(0)
  // The browser's clock is behind the cloud's.
  expect(at('running', '2027-12-31T23:59:00.000Z')).toBe(0)
  for (const state of ['pending', 'stopped', 'terminated', '']) expect(at(state, '2028-01-02T00:00:00.000Z')).toBeNull()
  expect(at('running', '2028-01-02T00:00:00.000Z', null)).toBeNull()
})

test('an operator sees how many run, are starting or stopping, or are unhealthy, and what they cost', () => {
  const instance = (state: string, status_check: string | null, cost_dollars: number | null) =>
    ({ state, status_check, cost_dollars }) as Instance
  expect(
    fleetFigures([
      instance('running', 'ok', 1.5),
      instance('running', 'impaired', 2),
      instance('running', null, null),
      instance('pending', 'insufficient-data', 0),
      instance('shutting-down', null, 0.25),
      instance('terminated', null, null),
      instance('rebooting', 'impaired', null),
    ]),
  ).toEqual({ all: 7, running: 3, changing: 2, unwell: 2, dollars: 3.75 })
  expect(fleetFigures([])).toEqual({ all: 0, running: 0, changing: 0, unwell: 0, dollars: 0 })
})

test('a list that fails to load says why', () => {
  expect(loadError(503, 'EC2 does not answer.')).toEqual({ message: 'HTTP 503', reason: 'EC2 does not answer.' })
  expect(loadError(500)).toEqual({ message: 'HTTP 500', reason: null })
  const said = { vendor_code: 'RequestLimitExceeded', vendor_request_id: 'req-1' }
  const reason = 'EC2 does not answer. Code: RequestLimitExceeded. Request ID: req-1.'
  expect(loadError(502, 'EC2 does not answer.', said)).toEqual({ message: 'HTTP 502', reason })
  expect(loadError(502, null, { vendor_code: 'Throttling' }).reason).toBe('Code: Throttling.')
  expect(loadError(0, 'fetch failed')).toEqual({ message: 'Failed to load', reason: null })
})
