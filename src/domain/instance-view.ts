import { type FleetFigures, fleetFigures, instanceUptime, isChanging, isRunning, isUnwell } from './instance.ts'
import type { Instance } from './wire/fleet.ts'

// Stryker disable StringLiteral: a wrong key fails type checking, and the console's tests read the headings.
export const INSTANCE_COLUMNS = [
  { key: 'name', label: 'Name' },
  { key: 'instance_id', label: 'Instance ID' },
  { key: 'instance_type', label: 'Type' },
  { key: 'state', label: 'State' },
  { key: 'status_check', label: 'Status' },
  { key: 'private_ip', label: 'Private IP' },
  { key: 'public_ip', label: 'Public IP' },
  { key: 'launch_time', label: 'Launch Time' },
  { key: 'uptime', label: 'Uptime' },
  { key: 'owner_email', label: 'Owner' },
  { key: 'cost_dollars', label: 'Cost so far' },
] as const
// Stryker restore StringLiteral

export type SortKey = (typeof INSTANCE_COLUMNS)[number]['key']

const SHOWS = { all: () => true, running: isRunning, changing: isChanging, impaired: isUnwell }
/** Which instances a tile of the console shows. */
export type InstanceShow = keyof typeof SHOWS

export const ROWS_A_PAGE = 50

/** How the console's table is sorted and filtered. The page's address has it, so links work, even without scripts. */
export type InstanceView = {
  sort: SortKey
  order: 'asc' | 'desc'
  filter: string
  show: InstanceShow
  /** From 1. */
  page: number
}

export const NEWEST_FIRST: InstanceView = { sort: 'launch_time', order: 'desc', filter: '', show: 'all', page: 1 }

/** One page of instances, and totals for all of them. */
export type InstancePage = { instances: Instance[]; found: number; page: number; figures: FleetFigures }

/** Reads an address's query; anything missing or invalid falls back to `NEWEST_FIRST`. */
export function parseInstanceView(query: URLSearchParams): InstanceView {
  const column = INSTANCE_COLUMNS.find(({ key }) => key === query.get('sort'))
  const order = query.get('order')
  const show = query.get('show') ?? ''
  const page = Number(query.get('page'))
  return {
    sort: column?.key ?? NEWEST_FIRST.sort,
    order: order === 'asc' || order === 'desc' ? order : column ? 'asc' : NEWEST_FIRST.order,
    filter: (query.get('q') ?? '').slice(0, 200),
    show: Object.hasOwn(SHOWS, show) ? (show as InstanceShow) : NEWEST_FIRST.show,
    page: Number.isSafeInteger(page) && page > 0 ? page : NEWEST_FIRST.page,
  }
}

export function instanceViewPath(view: InstanceView): string {
  const query = instanceViewQuery(view)
  return query.size ? `/console?${query}` : '/console'
}

export function instanceViewQuery({ sort, order, filter, show, page }: InstanceView): URLSearchParams {
  const query = new URLSearchParams()
  if (sort !== NEWEST_FIRST.sort || order !== NEWEST_FIRST.order) {
    query.set('sort', sort)
    query.set('order', order)
  }
  if (filter) query.set('q', filter)
  if (show !== NEWEST_FIRST.show) query.set('show', show)
  if (page !== NEWEST_FIRST.page) query.set('page', String(page))
  return query
}

/** The view after a click on a column heading: sorted by that column, or reversed if it already was. */
export function sortedBy(view: InstanceView, sort: SortKey): InstanceView {
  return { ...view, sort, order: view.sort === sort && view.order === 'asc' ? 'desc' : 'asc', page: 1 }
}

/** The view's page, or the last one if there are fewer by now. */
export function pageInstances(instances: Instance[], view: InstanceView, now: number): InstancePage {
  const shown = viewInstances(instances.filter(SHOWS[view.show]), view, now)
  const page = Math.min(view.page, Math.max(1, Math.ceil(shown.length / ROWS_A_PAGE)))
  const from = (page - 1) * ROWS_A_PAGE
  return {
    instances: shown.slice(from, from + ROWS_A_PAGE),
    found: shown.length,
    page,
    figures: fleetFigures(instances),
  }
}

type Order = Pick<InstanceView, 'sort' | 'order' | 'filter'>

/** The instances with every filter word in some field, sorted; unknown values come last in either order. */
export function viewInstances(instances: Instance[], { sort, order, filter }: Order, now: number): Instance[] {
  const words = filter.toLowerCase().split(/\s/)
  const compare = comparison(sort)
  const sign = order === 'asc' ? 1 : -1
  const rows = instances
    .filter((instance) => {
      const text = searchText(instance)
      return words.every((word) => text.includes(word))
    })
    .map((instance) => ({ instance, value: sort === 'uptime' ? instanceUptime(instance, now) : instance[sort] }))
  const known = rows.filter(({ value }) => value !== null)
  const unknown = rows.filter(({ value }) => value === null)
  return [...known.sort((a, b) => sign * compare(a.value, b.value)), ...unknown].map(({ instance }) => instance)
}

type Value = string | number | null

/** Compares two known values of a column. Digits in ids and times are not numbers. */
function comparison(sort: SortKey): (a: Value, b: Value) => number {
  if (sort === 'instance_id') return byCode
  // Stryker disable next-line all: times of equal length would compare the same as words, only slower.
  if (sort === 'launch_time') return byCode
  const inWords = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  return (a, b) => (typeof a === 'number' ? a - Number(b) : inWords.compare(String(a), String(b)))
}

function byCode(a: Value, b: Value): number {
  const [one, other] = [String(a), String(b)]
  return one < other ? -1 : Number(one > other)
}

function searchText(instance: Instance): string {
  const { name, instance_id, instance_type, state, status_check, private_ip, public_ip } = instance
  const { run_id, owner_id, owner_email, environment, vehicle } = instance
  const itsRun = [run_id, owner_id, owner_email, environment, vehicle]
  return [name, instance_id, instance_type, state, status_check, private_ip, public_ip, ...itsRun]
    .join('\n')
    .toLowerCase()
}
