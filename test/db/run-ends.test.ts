import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryClient } from '../../testing/stack/memory-client.ts'

const FOLDER = join(import.meta.dirname, '../../db/migrations')
const OURS = '0043_run_ends.sql'
const OVERDUE = 'We stopped your server because an invoice is overdue.'
/** Runs of the version before, and what they ended with. Times in ms. */
const ENDED = { requested_at: 0, billed_from: 10, metered_until: 900, stop_requested_at: 900, ended_at: 950 }
type Row = {
  run: Record<string, string | number | null>
  jobs?: [kind: string, code: string | null][]
  is: [because: string | null, code: string | null]
}
const ROWS: Record<string, Row> = {
  live: { run: { requested_at: 0, billed_from: 10, must_stop_at: 500, ends_at: 5 }, is: [null, null] },
  'stopped by its user': { run: ENDED, jobs: [['server_stop', null]], is: ['you', null] },
  cancelled: {
    run: { ...ENDED, billed_from: null, metered_until: null },
    jobs: [
      ['server_start', 'stopped'],
      ['server_stop', null],
    ],
    is: ['you', null],
  },
  'a trial at its end': { run: { ...ENDED, must_stop_at: 900 }, is: ['trial_over', null] },
  'a trial just before its end': { run: { ...ENDED, must_stop_at: 901 }, is: ['you', null] },
  "a trial whose end EC2's record moved": {
    run: { ...ENDED, metered_until: 60_000, must_stop_at: 62_000, short_seconds: 5, credit_seconds: 3 },
    is: ['trial_over', null],
  },
  'a trial that EC2 took a second from': {
    run: { ...ENDED, metered_until: 60_000, must_stop_at: 62_001, short_seconds: 5, credit_seconds: 3 },
    is: ['you', null],
  },
  'at the time they set': { run: { ...ENDED, ends_at: 900 }, is: ['time_up', null] },
  'just before that time': { run: { ...ENDED, ends_at: 901 }, is: ['you', null] },
  idle: { run: { ...ENDED, ends_at: 900, idle_ends: 1 }, is: ['idle', null] },
  'their budget': { run: { ...ENDED, ends_at: 900, budget_cents: 500 }, is: ['budget', null] },
  'a budget that had not ended it': { run: { ...ENDED, ends_at: 901, budget_cents: 500 }, is: ['you', null] },
  'a smaller plan': { run: { ...ENDED, ends_at: 900, plan_ends: 1, budget_cents: 500 }, is: ['plan', null] },
  'an overdue invoice': {
    run: { ...ENDED, error_message: OVERDUE },
    jobs: [['server_stop', 'suspended']],
    is: ['suspended', null],
  },
  'an overdue invoice, its jobs forgotten': { run: { ...ENDED, error_message: OVERDUE }, is: ['suspended', null] },
  'an overdue invoice in other words': {
    run: { ...ENDED, error_message: 'You owe us.' },
    jobs: [['server_stop', 'suspended']],
    is: ['suspended', null],
  },
  'stopped by us': {
    run: { ...ENDED, error_message: 'We stopped your server.' },
    jobs: [['server_stop', 'stopped_by_us']],
    is: ['failure', null],
  },
  lost: {
    run: { ...ENDED, ends_at: 800, must_stop_at: 850, error_message: 'Gone.' },
    jobs: [['server_stop', 'instance_lost']],
    is: ['failure', 'instance_lost'],
  },
  'lost before it answered': {
    run: { ...ENDED, billed_from: null, error_message: 'No answer.' },
    jobs: [
      ['server_start', 'no_answer'],
      ['server_stop', 'no_answer'],
    ],
    is: ['failure', 'no_answer'],
  },
  'never launched': {
    run: { ...ENDED, billed_from: null, metered_until: null, error_message: 'None free.' },
    jobs: [['server_start', 'no_capacity']],
    is: ['failure', 'no_capacity'],
  },
  'without its image': {
    run: { ...ENDED, billed_from: null, error_message: 'No image.' },
    jobs: [
      ['server_start', 'image_failed'],
      ['server_stop', 'image_failed'],
    ],
    is: ['failure', 'image_not_found'],
  },
  'failed, its jobs forgotten': { run: { ...ENDED, error_message: 'Gone.' }, is: ['failure', null] },
  'stopped by its user while a failed start cleaned up': {
    run: { ...ENDED, billed_from: null, metered_until: null },
    jobs: [
      ['server_start', 'timeout'],
      ['server_stop', null],
    ],
    is: ['you', null],
  },
  'about to end: lost': {
    run: { ...ENDED, ended_at: null },
    jobs: [['server_stop', 'instance_lost']],
    is: ['failure', 'instance_lost'],
  },
  'about to end: a trial': { run: { ...ENDED, ended_at: null, must_stop_at: 900 }, is: ['trial_over', null] },
}

const client = memoryClient('libsql')
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'))
const apply = (file: string) => client.run(readFileSync(join(FOLDER, file), 'utf8'))

const literal = (value: string | number | null) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
function insert(table: string, row: Record<string, string | number | null>): void {
  client.run(`INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.values(row).map(literal).join()})`)
}

test('fills in why each kind of run ended, once', async () => {
  for (const file of files.sort()) if (file < OURS) apply(file)
  insert('servers', { id: 'p', instance_type: 'g6.4xlarge', availability_zone: 'z', position: 1 })
  for (const [id, { run, jobs = [] }] of Object.entries(ROWS)) {
    insert('users', { id, email: id, name: 'Ada', password_hash: '', created_at: 0 })
    insert('server_sessions', { id, user_id: id, server_id: 'p', instance_type: 'g6.4xlarge', ...run })
    for (const [i, [kind, code]] of jobs.entries()) {
      const job = { id: `${id} ${i}`, user_id: id, session_id: id, kind, status: 'failed', error_code: code }
      insert('jobs', { ...job, created_at: i, updated_at: i })
    }
  }
  apply(OURS)
  const { rows } = await client.execute('SELECT id, ended_because, error_code FROM server_sessions')
  const found = Object.fromEntries(rows.map(({ id, ended_because, error_code }) => [id, [ended_because, error_code]]))
  expect(found).toEqual(Object.fromEntries(Object.entries(ROWS).map(([id, { is }]) => [id, is])))
  const old = await client.execute("SELECT count(*) AS n FROM jobs WHERE error_code = 'image_failed'")
  expect(old.rows[0]?.n).toBe(0)
})
