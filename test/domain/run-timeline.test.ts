import { expect, test } from 'vitest'
import { type RunFacts, runTimeline } from '../../src/domain/run-timeline.ts'

const AT = Date.UTC(2028, 0, 31, 8)
const run = {
  requestedAt: AT,
  maxGpus: 1,
  environment: 'Canyon',
  vehicle: 'uav',
  runningAt: AT + 20_400,
  ipAddress: '203.0.113.24',
  billedFrom: AT + 61_400,
  confirmedAt: AT + 61_400,
  trialWarnedAt: null,
  stopRequestedAt: AT + 121_700,
  meteredUntil: AT + 121_700,
  endedAt: AT + 180_000,
  untilExit: false,
  exitedAt: null,
  exitCode: null,
  errorMessage: null,
}
const launch = {
  instanceType: 'g6.4xlarge',
  availabilityZone: 'us-east-1b',
  createdAt: AT + 3_200,
  outcome: 'gone' as const,
  refusalCode: null,
  refusalRequestId: null,
  launchedAt: AT + 3_000,
  endedAt: AT + 121_000,
  endReason: 'User initiated (2028-01-31 08:02:01 GMT)',
}
const refused = {
  ...launch,
  availabilityZone: 'us-east-1a',
  createdAt: AT + 2_000,
  outcome: 'refused' as const,
  refusalCode: 'InsufficientInstanceCapacity',
  refusalRequestId: 'req-1',
  launchedAt: null,
  endedAt: null,
  endReason: null,
}
const facts: RunFacts = { run, launches: [refused, launch], happened: [], endedBy: 'Ended by you' }
const brief = (events: ReturnType<typeof runTimeline>) => events.map(({ what, detail }) => `${what}: ${detail}`)

test('tells everything that happened, oldest first', () => {
  const events = runTimeline(facts)
  expect(brief(events)).toEqual([
    'requested: Canyon, UAV. At most 1 × L4.',
    'place_refused: 1 × L4, 16 CPU, 64 GB, us-east-1a: our cloud provider had none free.',
    'launched: 1 × L4, 16 CPU, 64 GB, us-east-1b.',
    // EC2 counts whole seconds: neither its launch nor its end precedes ours in the same second.
    'booting: null',
    'running: Address 203.0.113.24.',
    'answered: Startup took 1m 2s and is free.',
    'stopped: Ended by you',
    'meter_ended: 59s metered.',
    'machine_ended: null',
    'gone: null',
  ])
  expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort())
  expect(events[0]?.at).toBe('2028-01-31T08:00:00.000Z')
})

test('tells only an operator what EC2 said', () => {
  expect(JSON.stringify(runTimeline(facts))).not.toMatch(/req-1|Insufficient|User initiated/)
  const seen = brief(runTimeline(facts, { vendor: true }))
  expect(seen).toContain(
    'place_refused: 1 × L4, 16 CPU, 64 GB, us-east-1a: our cloud provider had none free. EC2 said InsufficientInstanceCapacity, request ID req-1.',
  )
  expect(seen).toContain('machine_ended: User initiated (2028-01-31 08:02:01 GMT)')
})

test('an end of the machine that EC2 reports before our stop comes before it', () => {
  const died = { ...launch, endedAt: AT + 100_000 }
  const events = runTimeline({ ...facts, launches: [died] }).map(({ what }) => what)
  expect(events.indexOf('machine_ended')).toBeLessThan(events.indexOf('stopped'))
})

test('says who moved the end or renamed it', () => {
  const moved = { what: 'end_moved', detail: '2028-01-31T10:00:00.000Z' } as const
  const events = runTimeline({
    ...facts,
    happened: [
      { ...moved, at: AT + 70_000, by: 'site' },
      { ...moved, at: AT + 71_000, by: 'token:CI' },
      { at: AT + 72_000, what: 'end_removed', detail: null, by: 'mail' },
      { at: AT + 73_000, what: 'renamed', detail: 'lap 2', by: 'site' },
    ],
  })
  expect(brief(events).filter((line) => /^(end|renamed)/.test(line))).toEqual([
    'end_moved: To Jan 31, 2028, 10:00 UTC. By you.',
    'end_moved: To Jan 31, 2028, 10:00 UTC. By the API token “CI”.',
    'end_removed: By the link in our email.',
    'renamed: “lap 2”. By you.',
  ])
})

test('a start that failed says why, and has no meter', () => {
  const failed = { ...run, runningAt: null, billedFrom: null, meteredUntil: null, errorMessage: 'No server is free.' }
  const events = brief(runTimeline({ ...facts, run: failed, launches: [refused] }))
  expect(events).toContain('failed: No server is free.')
  expect(events.join()).not.toMatch(/answered|meter_ended|stopped/)
})

test('names the vehicle as the start did', () => {
  const [requested] = runTimeline({ ...facts, run: { ...run, maxGpus: null, vehicle: 'multi' } })
  expect(requested).toMatchObject({ what: 'requested', detail: 'Canyon, Multi-vehicle.' })
})
