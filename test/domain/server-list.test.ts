import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SAMPLE_SERVER } from '../../dev/sample-server.ts'
import {
  ALL_RESERVED,
  emptyServerList,
  jobFailure,
  noneAvailable,
  reduceServerList,
  type ServerList,
  type ServerListAction,
  STARTING,
  STOPPING,
} from '../../src/domain/server-list.ts'
import type { Job, Server } from '../../src/domain/wire/fleet.ts'

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, second)).toISOString()

const server = (id: string, change: Partial<Server> = {}): Server => ({ ...SAMPLE_SERVER, id, ...change })

const job = (id: string, change: Partial<Job> = {}): Job => ({
  id,
  kind: 'server_start',
  status: 'running',
  progress: null,
  result: null,
  error_message: null,
  error_code: null,
  server: null,
  created_at: at(0),
  updated_at: at(1),
  ...change,
})

const play = (actions: ServerListAction[], from = emptyServerList([])) => actions.reduce(reduceServerList, from)
const told = (...jobs: Job[]) => jobs.map((job): ServerListAction => ({ type: 'job_updated', job }))

describe('fetching', () => {
  test('a fetch sets the loading flag, and its end clears it', () => {
    const fetching = play([{ type: 'fetching' }])
    expect(fetching.loading).toBe(true)
    expect(reduceServerList(fetching, { type: 'fetched', servers: [server('a')] })).toMatchObject({
      loading: false,
      servers: [{ id: 'a' }],
    })
  })

  test('a failed fetch shows its error until one succeeds, and keeps what was loaded before', () => {
    const failed = play(
      [{ type: 'fetching' }, { type: 'fetch_failed', message: 'Failed to load servers' }],
      emptyServerList([server('a')]),
    )
    expect(failed).toMatchObject({ loading: false, error: 'Failed to load servers', servers: [{ id: 'a' }] })
    expect(reduceServerList(failed, { type: 'fetched', servers: [] }).error).toBeNull()
  })

  test('back online, says no longer that someone is offline, and keeps every other message', () => {
    const after = (code: string) =>
      play([
        { type: 'told', notice: { kind: 'danger', text: 'Reworded.', job: null, code } },
        { type: 'fetched', servers: [] },
      ]).notice?.code
    expect(after('offline')).toBeUndefined()
    expect(after('invalid')).toBe('invalid')
  })

  test('a list read before a server started or stopped does not undo that', () => {
    const running = server('b', { pending: false, active: true })
    const ended = server('b', { pending: false, end_time: at(9) })
    const fetched: ServerListAction = { type: 'fetched', servers: [server('b'), server('a', { pending: false })] }
    expect(play([{ type: 'started', server: server('c'), jobId: 'j' }, fetched]).servers).toMatchObject([
      { id: 'c' },
      { id: 'b' },
      { id: 'a' },
    ])
    expect(play([fetched, ...told(job('j', { server: running })), fetched]).servers[0]).toEqual(running)
    expect(play([fetched, ...told(job('j', { server: ended })), fetched]).servers[0]).toEqual(ended)
    const stopping = server('a', { pending: false, active: true, stopping: true })
    const before: ServerListAction = { type: 'fetched', servers: [server('a', { pending: false, active: true })] }
    expect(play([before, ...told(job('j', { server: stopping })), before]).servers).toEqual([stopping])
    // Nor undo its meter.
    const metered = server('a', { pending: false, active: true, billed_from: at(3) })
    expect(play([before, ...told(job('j', { server: metered })), before]).servers).toEqual([metered])
  })

  test('an ended run that is no longer among the hundred fetched leaves the list', () => {
    const ended = Array.from({ length: 101 }, (_, i) => server(`s${i}`, { pending: false, end_time: at(i) }))
    const live = server('live')
    const list = play([{ type: 'fetched', servers: ended.slice(1) }], emptyServerList([live, ...ended]))
    expect(list.servers).toEqual([live, ...ended.slice(1)])
    // A live run that is in both appears once.
    expect(play([{ type: 'fetched', servers: [live, ...ended.slice(1)] }], list).servers).toEqual(list.servers)
    expect(play([{ type: 'fetched', servers: [] }], list).servers).toEqual([live])
  })

  test('compares each fetched server with itself, and accepts updates in the same phase', () => {
    const [a, b] = [server('a', { pending: false, end_time: at(1) }), server('b')]
    const news = server('b', { ip_address: '10.0.0.1' })
    expect(play([{ type: 'fetched', servers: [news, a] }], emptyServerList([a, b])).servers).toEqual([news, a])
  })

  test('a page starts with what it was given, and is not loading', () => {
    expect(emptyServerList([server('a')])).toEqual({
      servers: [server('a')],
      jobs: {},
      lastJobId: null,
      loading: false,
      notice: null,
      error: null,
    })
  })

  test('shows a notice as given', () => {
    const notice = { kind: 'danger', text: 'Failed to start server', job: null } as const
    expect(play([{ type: 'told', notice }], emptyServerList([server('a')]))).toEqual({
      ...emptyServerList([server('a')]),
      notice,
    })
  })
})

describe('starting and stopping', () => {
  const started: ServerListAction = { type: 'started', server: server('b'), jobId: 'job_b' }

  test('a started server goes on top, or replaces itself', () => {
    const list = play([{ type: 'fetched', servers: [server('a', { pending: false })] }, started])
    expect(list.servers.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(play([started], list).servers.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(list).toMatchObject({ lastJobId: 'job_b', notice: { kind: 'info', text: STARTING } })
    expect(list.jobs.job_b).toMatchObject({ kind: 'server_start', status: 'queued' })
  })

  test('a stopped server keeps its position', () => {
    const before = emptyServerList([server('a', { pending: false, active: true }), server('z', { pending: false })])
    const stopping = server('a', { pending: false, active: true, stopping: true })
    const list = play([{ type: 'stopped', server: stopping, jobId: 'job_s' }], before)
    expect(list.servers).toEqual([stopping, server('z', { pending: false })])
    expect(list.jobs.job_s).toMatchObject({ kind: 'server_stop', status: 'queued' })
    expect(list.notice).toMatchObject({ kind: 'info', text: STOPPING })
  })

  test('what the socket said before the answer arrived stays', () => {
    const running = job('job_b', { progress: 'Booting…', server: server('b'), updated_at: at(5) })
    const list = play([...told(running), started])
    expect(list.jobs.job_b).toEqual(running)
    // Its server stays as well: the answer was written before the second place was tried.
    const moved = { ...running, server: server('b', { server_id: 'srv_2' }) }
    expect(play([...told(moved), started]).servers).toEqual([moved.server])
    expect(play([...told({ ...running, server: null }), started]).servers).toEqual([server('b')])
  })

  test("a job's time is the server's: of the request, and of the accepted stop", () => {
    const list = play([started])
    expect(list.jobs.job_b?.created_at).toBe('2020-01-01T00:00:00Z')
    const stopping = server('b', { stopping: true, end_time: at(9) })
    const stopped = play([{ type: 'stopped', server: stopping, jobId: 'job_s' }], list)
    expect(stopped.jobs.job_s?.created_at).toBe(at(9))
    const unknown = play([{ type: 'stopped', server: server('b'), jobId: 'job_t' }])
    expect(unknown.jobs.job_t?.created_at).toBe('')
  })

  test('a job known only from an answer gives way to what the channel says, but not to an older job', () => {
    for (const wrong of [at(0).replace('2026', '2036'), at(0).replace('2026', '2006')]) {
      const requested = { ...started, server: server('b', { requested_at: wrong }) }
      const running = job('job_b', { progress: 'Booting…', server: server('b') })
      const list = play([requested, ...told(running)])
      expect(list.jobs.job_b).toEqual(running)
      const later = job('job_c', { kind: 'server_stop', created_at: at(7), updated_at: at(8) })
      expect(play(told(later), list)).toMatchObject({ lastJobId: 'job_c', notice: { text: STOPPING } })
      const older = job('job_a', { created_at: '2026-11-19T00:00:00.000Z', status: 'succeeded', result: 'Old.' })
      expect(play([requested, ...told(older)])).toMatchObject({ lastJobId: 'job_b' })
    }
  })
})

describe('without live updates', () => {
  const unheard = (action: ServerListAction, run: Server) =>
    play([action, { type: 'fetched', servers: [run] }, { type: 'unheard' }])
  const starting: ServerListAction = { type: 'started', server: server('b'), jobId: 'job_b' }
  const running = server('b', { pending: false, active: true, startedAt: at(1) })
  const stopping: ServerListAction = { type: 'stopped', server: { ...running, stopping: true }, jobId: 'job_s' }
  const ended = server('b', { pending: false, end_time: at(9), ended_because: 'you' })

  test('a notice ends with what the list shows', () => {
    expect(unheard(starting, { ...running, billed_from: at(2) }).notice).toEqual({
      kind: 'success',
      text: 'Your server is running.',
      job: 'job_b',
    })
    expect(unheard(stopping, ended).notice).toEqual({ kind: 'success', text: 'Server stopped.', job: 'job_s' })
    for (const action of [starting, stopping])
      expect(unheard(action, { ...ended, error_message: 'It is gone.' }).notice).toMatchObject({
        kind: 'danger',
        text: 'It is gone.',
      })
  })

  test('a notice stays while the list shows that its job continues, and so does any other', () => {
    expect(unheard(starting, running).notice?.text).toBe(STARTING)
    expect(unheard(stopping, { ...running, billed_from: at(2), stopping: true }).notice?.text).toBe(STOPPING)
    expect(play([{ type: 'unheard' }]).notice).toBeNull()
    const other = { kind: 'danger', text: 'No.', job: null } as const
    expect(play([{ type: 'told', notice: other }, { type: 'unheard' }]).notice).toBe(other)
    const orphan = play(told(job('j', { server: null })), emptyServerList([ended]))
    expect(reduceServerList(orphan, { type: 'unheard' }).notice?.text).toBe(STARTING)
    const failed = play([...told(job('j', { status: 'failed', server: ended })), { type: 'unheard' }])
    expect(failed.notice?.text).toBe('Unknown error')
  })

  test("the job's own words replace it once they arrive", () => {
    const list = unheard(stopping, ended)
    const end = job('job_s', { kind: 'server_stop', status: 'succeeded', result: 'Server stopped. You used 5s.' })
    expect(play(told(end), list).notice?.text).toBe('Server stopped. You used 5s.')
  })
})

describe('the notice of a job', () => {
  const end = (change: Partial<Job>) => play(told(job('j', change))).notice

  test('failed: its message, else its code, else an unknown error', () => {
    const failed = { status: 'failed' } as const
    expect(end({ ...failed, error_message: 'No room.', error_code: 'timeout' })).toMatchObject({
      kind: 'danger',
      text: 'No room.',
    })
    expect(end({ ...failed, error_code: 'timeout' })).toMatchObject({ kind: 'danger', text: 'Error: timeout' })
    expect(end(failed)).toMatchObject({ kind: 'danger', text: 'Unknown error' })
    expect(jobFailure({ error_message: null, error_code: null })).toBe('Unknown error')
  })

  test('accepts an update from the same millisecond, but not an older one', () => {
    const first = job('j', { progress: 'Booting…', updated_at: at(5) })
    const ready = job('j', { status: 'succeeded', result: 'Your server is running.', updated_at: at(5) })
    expect(play(told(first, ready)).jobs.j).toEqual(ready)
    expect(play(told(first, job('j', { progress: 'Launching…', updated_at: at(4) }))).jobs.j).toEqual(first)
    const failed = job('j', { status: 'failed', error_message: 'No room.', updated_at: at(5) })
    expect(play(told(failed, job('j', { updated_at: at(6) }))).jobs.j).toEqual(failed)
  })

  test('if two jobs were created at once, the first one reported stays the latest', () => {
    const list = play(told(job('a'), job('b', { updated_at: at(3) })))
    expect(list.lastJobId).toBe('a')
    expect(play(told(job('c', { created_at: at(1) })), list).lastJobId).toBe('c')
  })

  test('succeeded: its result', () => {
    expect(end({ status: 'succeeded', result: 'Your server is running.' })).toMatchObject({
      kind: 'success',
      text: 'Your server is running.',
    })
    expect(end({ status: 'succeeded' })).toMatchObject({ kind: 'success', text: 'Done.' })
  })

  test('running: that it may take a while', () => {
    expect(end({})).toEqual({
      kind: 'info',
      text: 'Starting server! This may take up to 30 seconds...',
      job: 'j',
    })
    expect(end({ kind: 'server_stop' })).toEqual({ kind: 'info', text: 'Stopping server...', job: 'j' })
  })

  test('a start canceled by its owner is not an error, whatever was shown', () => {
    const stopped = job('j', {
      status: 'failed',
      error_code: 'stopped',
      error_message: "Start cancelled. You weren't charged.",
      updated_at: at(3),
    })
    const stop = job('s', { kind: 'server_stop', created_at: at(3), updated_at: at(4) })
    expect(play(told(job('j'), stopped)).notice).toBeNull()
    expect(play(told(stopped)).notice).toBeNull()
    const other = { kind: 'danger', text: 'Failed to load servers', job: null } as const
    expect(play([...told(job('j')), { type: 'told', notice: other }, ...told(stopped)]).notice).toEqual(other)
    expect(play(told(job('j'), stop, stopped)).notice).toMatchObject({ kind: 'info', text: STOPPING })
  })

  test('a notice can be dismissed, and a job cleared', () => {
    const list = play(told(job('j', { status: 'failed' })))
    expect(reduceServerList(list, { type: 'notice_dismissed' }).notice).toBeNull()
    expect(reduceServerList(list, { type: 'job_cleared', id: 'j' }).jobs).toEqual({})
  })

  test('a job that ended before the page opened is not news, even if the channel repeats it', () => {
    const ended = job('j', { status: 'succeeded', result: 'Server stopped.' })
    const list = emptyServerList([], [ended])
    expect(list.notice).toBeNull()
    expect(play(told(ended), list).notice).toBeNull()
    expect(emptyServerList([], [job('j')]).notice).toMatchObject({ text: STARTING })
  })
})

test('when none is available, says how many places were checked', () => {
  expect(ALL_RESERVED).toBe('No GPU servers available right now. All servers are reserved.')
  expect(noneAvailable({ ServerAvailable: false, candidates: [] })).toBe(ALL_RESERVED)
  expect(noneAvailable({ ServerAvailable: false })).toBe(ALL_RESERVED)
  const candidate = {
    instance_type: 't',
    availability_zone: 'z',
    warm: false,
    server_id: 's',
    available: false,
    reason: null,
  }
  expect(noneAvailable({ ServerAvailable: false, candidates: [candidate, candidate] })).toBe(
    `${ALL_RESERVED} (Checked 2 candidates)`,
  )
})

describe('messages that are duplicated, late, or out of order', () => {
  /** What the server reports about several runs, in order: a start, possibly stopped in some phase, and its end. */
  const histories = fc
    .array(fc.record({ phases: fc.integer({ min: 0, max: 3 }), ready: fc.boolean(), failed: fc.boolean() }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((runs) => runs.flatMap((run, i) => history(run, i)))

  function history(run: { phases: number; ready: boolean; failed: boolean }, i: number): Job[] {
    const id = `ses_${i}`
    let second = i * 20
    const start = { id: `job_${i}_start`, created_at: at(second) }
    const messages: Job[] = []
    const tell = (change: Partial<Job>) => messages.push(job('', { ...change, updated_at: at(++second) }))
    for (let phase = 0; phase <= run.phases; phase++)
      tell({ ...start, progress: `phase ${phase}`, server: server(id, { server_id: `srv_${phase}` }) })
    if (run.failed && !run.ready) {
      const gone = server(id, { server_id: 'srv_x', pending: false, end_time: at(second), error_message: 'No.' })
      tell({ ...start, status: 'failed', error_message: 'No.', server: gone })
      return messages
    }
    const live = server(id, { server_id: 'srv_x', active: run.ready, pending: !run.ready })
    if (run.ready) tell({ ...start, status: 'succeeded', result: 'Your server is running.', server: live })
    const stop = { id: `job_${i}_stop`, kind: 'server_stop', created_at: at(++second) } as const
    if (!run.ready) tell({ ...start, status: 'failed', error_code: 'stopped', server: { ...live, stopping: true } })
    tell({ ...stop, progress: 'Stopping server...', server: { ...live, stopping: true } })
    tell({
      ...stop,
      status: 'succeeded',
      result: 'Server stopped.',
      server: server(id, { pending: false, end_time: at(second) }),
    })
    return messages
  }

  const byId = (list: ServerList) => ({ ...list, servers: list.servers.toSorted((a, b) => (a.id < b.id ? -1 : 1)) })

  test('lead to the same state', () => {
    fc.assert(
      fc.property(
        histories.chain((messages) =>
          fc.tuple(
            fc.constant(messages),
            fc.shuffledSubarray([...messages, ...messages, ...messages], { minLength: 0 }),
          ),
        ),
        ([messages, extra]) => {
          // Every message arrives at least once, at any position.
          const anyOrder = [...extra, ...messages.toReversed()]
          expect(byId(play(told(...anyOrder)))).toEqual(byId(play(told(...messages))))
        },
      ),
    )
  })

  test('never bring back an ended run or a finished job', () => {
    fc.assert(
      fc.property(
        histories.chain((messages) => fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length })),
        (messages) => {
          let list = emptyServerList([])
          for (const action of told(...messages)) {
            const next = reduceServerList(list, action)
            for (const before of list.servers.filter((s) => !s.active && !s.pending))
              expect(next.servers).toContainEqual(before)
            for (const before of Object.values(list.jobs).filter((j) => j.status !== 'running'))
              expect(next.jobs[before.id]).toEqual(before)
            expect(new Set(next.servers.map(({ id }) => id)).size).toBe(next.servers.length)
            list = next
          }
        },
      ),
    )
  })
})
