import { sql } from 'drizzle-orm'
import { callCounts, statusChecks } from '../../../db/schema/operations.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import { isOfferedAt } from '../fleet/places.ts'
import type { Context } from '../runtime/context.ts'
import type { Metric } from './prometheus.ts'

/** Bounds a scrape after an extraordinary hour: only the newest count. */
const MOST_READY = 5_000
const LATE_MS = 5_000

type Row = Record<string, string | number | null>
type Sample = Metric['samples'][number]

/** Everything a dashboard or an alert needs to know, in one round trip. Counts of the last hour, not of all time. */
export async function readMetrics(ctx: Context, version: string): Promise<Metric[]> {
  const now = ctx.now()
  const ended = sql`run_at IS NULL AND j.updated_at > ${now - HOUR_MS}`
  const rows = (query: ReturnType<typeof sql>) => ctx.db.all<Row>(query)
  const [ends, ready, jobs, [mail], invoices, places, warm, runs, incidents, [check], calls] = await ctx.db.batch([
    rows(sql`SELECT kind, coalesce(j.error_code, status) AS outcome, instance_type AS type, coalesce(availability_zone, '') AS zone,
      count(*) AS count FROM jobs j JOIN server_sessions r ON r.id = j.session_id WHERE ${ended} GROUP BY 1, 2, 3, 4`),
    rows(sql`SELECT billed_from - requested_at AS ms FROM jobs j JOIN server_sessions r ON r.id = j.session_id
      WHERE ${ended} AND kind = 'server_start' AND status = 'succeeded' AND billed_from IS NOT NULL
      ORDER BY j.updated_at DESC LIMIT ${MOST_READY}`),
    rows(sql`SELECT kind, count(*) AS count, sum(run_at < ${now - LATE_MS}) AS late, max(attempts) AS tries,
      min(created_at) AS oldest FROM jobs WHERE run_at IS NOT NULL GROUP BY kind`),
    rows(sql`SELECT count(*) AS count, min(created_at) AS oldest FROM outbox WHERE send_at IS NOT NULL`),
    rows(
      sql`SELECT step, count(*) AS count, max(attempts) AS tries FROM invoices WHERE next_at IS NOT NULL GROUP BY step`,
    ),
    rows(sql`SELECT instance_type AS type, availability_zone AS zone, CASE WHEN reserved_by IS NOT NULL THEN 'reserved'
      WHEN ${isOfferedAt(now)} THEN 'free' ELSE 'set_aside' END AS state, count(*) AS count
      FROM servers WHERE retired_at IS NULL OR reserved_by IS NOT NULL GROUP BY 1, 2, 3`),
    rows(sql`SELECT instance_type AS type, availability_zone AS zone, CASE WHEN ending_at IS NOT NULL THEN 'ending'
      WHEN ready_at IS NOT NULL THEN 'ready' ELSE 'starting' END AS state, count(*) AS count
      FROM warm_machines JOIN servers ON servers.id = server_id WHERE ended_at IS NULL GROUP BY 1, 2, 3`),
    rows(sql`SELECT CASE WHEN stop_requested_at IS NOT NULL THEN 'stopping' WHEN billed_from IS NOT NULL THEN 'running'
      ELSE 'starting' END AS state, count(*) AS count FROM server_sessions WHERE ended_at IS NULL GROUP BY 1`),
    rows(sql`SELECT kind FROM incidents WHERE ended_at IS NULL`),
    ctx.db.select().from(statusChecks),
    ctx.db.select().from(callCounts),
  ])

  const ages = (oldest: unknown) => (oldest === null || oldest === undefined ? 0 : (now - Number(oldest)) / 1000)
  const placed = ({ outcome, type, zone, count }: Row): Sample => ({
    labels: { outcome: String(outcome), instance_type: String(type), zone: String(zone) },
    value: Number(count),
  })
  const by = (table: Row[], label: string, column = 'count'): Sample[] =>
    table.map((row) => ({ labels: { [label]: String(row[label]) }, value: Number(row[column]) }))
  const seconds = ready.map(({ ms }) => Number(ms) / 1000).sort((a, b) => a - b)
  const gauge = (name: string, help: string, samples: Sample[] | number): Metric => ({
    name: `proving_ground_${name}`,
    type: 'gauge',
    help,
    samples: typeof samples === 'number' ? [{ value: samples }] : samples,
  })
  const counter = (name: string, help: string, system: (of: string) => boolean, labels: string[]): Metric => ({
    ...gauge(name, help, []),
    type: 'counter',
    samples: calls
      .filter((row) => system(row.system))
      .map((row) => ({
        labels: Object.fromEntries(labels.map((label) => [label, row[label as 'system' | 'call' | 'outcome']])),
        value: row.count,
      })),
  })

  return [
    gauge('info', 'Always 1. The label names the commit that answers.', [{ labels: { version }, value: 1 }]),
    gauge('starts', 'Starts that finished in the last hour.', ends.filter(isOf('server_start')).map(placed)),
    gauge('stops', 'Stops that finished in the last hour.', ends.filter(isOf('server_stop')).map(placed)),
    gauge(
      'time_to_ready_seconds',
      'From the request to the first answer, for starts in the last hour. No sample if there were none.',
      seconds.length
        ? [50, 90, 99].map((p) => ({ labels: { percentile: String(p) }, value: quantile(seconds, p / 100) }))
        : [],
    ),
    gauge('runs', 'Live runs.', by(runs, 'state')),
    gauge('places', 'Places that are not retired, or still in use.', places.map(toPlace)),
    gauge('places_free', 'Places that the next start may get.', sum(places.filter(({ state }) => state === 'free'))),
    gauge('warm_machines', 'Machines that wait for a start, or are launched or ended for that.', warm.map(toPlace)),
    gauge('jobs_waiting', 'Unfinished jobs.', by(jobs, 'kind')),
    gauge('jobs_late', 'Unfinished jobs whose next step is overdue by 5 s.', by(jobs, 'kind', 'late')),
    gauge('job_tries', 'Tries of the unfinished step that failed most often.', by(jobs, 'kind', 'tries')),
    gauge('job_age_seconds', 'Age of the oldest unfinished job.', Math.max(0, ...jobs.map((row) => ages(row.oldest)))),
    gauge('outbox_waiting', 'Emails waiting to be sent.', Number(mail?.count ?? 0)),
    gauge('outbox_age_seconds', 'Age of the oldest email waiting to be sent.', ages(mail?.oldest)),
    gauge(
      'invoices_waiting',
      'Invoices and credits by their next step; sent: waiting for payment.',
      by(invoices, 'step'),
    ),
    gauge('invoice_tries', 'Tries of the step that failed most often.', by(invoices, 'step', 'tries')),
    gauge('starts_possible', '1 if people can start servers, as on /status.', incidents.length ? 0 : 1),
    gauge('check_age_seconds', 'Time since the triggers last ran. Over 300, they have stopped.', ages(check?.lastAt)),
    counter('webhooks_total', "Stripe's calls to us.", (system) => system === 'webhook', ['outcome']),
    counter('calls_total', 'Calls to the database and to vendors.', (system) => system !== 'webhook', [
      'system',
      'call',
      'outcome',
    ]),
  ]
}

const isOf = (kind: string) => (row: Row) => row.kind === kind
const sum = (table: Row[]) => table.reduce((total, { count }) => total + Number(count), 0)

const toPlace = ({ type, zone, state, count }: Row): Sample => ({
  labels: { instance_type: String(type), zone: String(zone), state: String(state) },
  value: Number(count),
})

/** The smallest value that at least this share of them doesn't exceed. @param sorted at least one, ascending */
function quantile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
