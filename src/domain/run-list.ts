import * as v from 'valibot'
import { BYTE_ORDER_MARK, csvLine } from './csv.ts'
import { rule } from './form.ts'
import { isMonth, toIso, WRITE_MONTH } from './instant.ts'
import { wholeSecondFrom } from './money/billing.ts'
import { billedSecondsAt } from './money/live-usage.ts'
import { writeParameters } from './parameters.ts'
import { type ServerStatus, serverStatus } from './server.ts'
import type { Server } from './wire/fleet.ts'

export const RUN_STATUSES: ServerStatus[] = ['running', 'provisioning', 'stopping', 'stopped', 'error']

/** Which of someone's runs to show. Null or empty: all of them. */
export type RunFilter = { q: string; month: string | null; status: ServerStatus | null }

const LONGEST_SEARCH = 100

/** Which runs a query wants, and which page of them: pages count from 1. */
export const runQuery = v.pipe(
  v.object({
    q: v.optional(v.string(), ''),
    month: v.optional(v.string()),
    status: v.optional(v.string()),
    page: v.optional(v.string(), '1'),
  }),
  rule('q', ({ q }) => q.trim().length <= LONGEST_SEARCH, `Search for at most ${LONGEST_SEARCH} characters.`),
  rule('month', ({ month }) => month === undefined || isMonth(month), WRITE_MONTH),
  rule(
    'status',
    ({ status }) => status === undefined || RUN_STATUSES.some((one) => one === status),
    `The status must be one of ${RUN_STATUSES.join(', ')}.`,
  ),
  rule('page', ({ page }) => /^[1-9]\d{0,5}$/.test(page), 'The page must be a whole number from 1 to 999999.'),
  v.transform(({ q, month, status, page }) => ({
    filter: {
      q: q.trim(),
      month: month ?? null,
      status: RUN_STATUSES.find((one) => one === status) ?? null,
    } satisfies RunFilter,
    page: Number(page),
  })),
)

/** The query string of a filtered list, without a page by default. */
export function linkQuery({ q, month, status }: RunFilter, page?: number): string {
  const query = new URLSearchParams()
  if (q) query.set('q', q)
  if (month) query.set('month', month)
  if (status) query.set('status', status)
  if (page && page > 1) query.set('page', String(page))
  return query.size ? `?${query}` : ''
}

type Cell = (server: Server, now: number, origin: string) => string

const COLUMNS: Record<string, Cell> = {
  'Session ID': ({ id }) => id,
  Name: ({ name }) => name ?? '',
  Status: (server) => serverStatus(server),
  Requested: ({ requested_at }) => requested_at,
  'Billed From': ({ billed_from }) => (billed_from ? toIso(wholeSecondFrom(Date.parse(billed_from))) : ''),
  End: ({ end_time }) => (end_time ? toIso(Math.floor(Date.parse(end_time) / 1000) * 1000) : ''),
  'Billed Seconds': (server, now) => String(billedSecondsAt(server, now)),
  'Cost USD': ({ cost_dollars }) => (cost_dollars === null ? '' : cost_dollars.toFixed(7)),
  'Instance Type': ({ instance_type }) => instance_type,
  Zone: ({ availability_zone }) => availability_zone ?? '',
  Environment: ({ environment }) => environment ?? '',
  Vehicle: ({ vehicle }) => vehicle ?? '',
  Parameters: ({ parameters }) => writeParameters(parameters),
  'Exit Code': ({ exit_code }) => exit_code?.toString() ?? '',
  'Ended Because': ({ ended_because }) => ended_because ?? '',
  'Error Code': ({ error_code }) => error_code ?? '',
  Message: ({ error_message }) => error_message ?? '',
  URL: ({ id }, _, origin) => `${origin}/servers/${id}`,
}

/** RFC 4180 with a byte-order mark, one line per run: as they come, because there may be any number. */
export async function* runsToCsv(pieces: AsyncIterable<Server[]>, now: number, origin: string): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(Object.keys(COLUMNS))
  for await (const servers of pieces)
    yield servers.map((server) => csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(server, now, origin)))).join('')
}
