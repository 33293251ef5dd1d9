import { instanceUptime } from './instance.ts'
import type { Instance } from './wire.ts'

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

export type SortKey = (typeof INSTANCE_COLUMNS)[number]['key']

/** How the console's table is looked at. It stands in the page's address, so that it can be linked and works without scripts. */
export type InstanceView = { sort: SortKey; order: 'asc' | 'desc'; filter: string }

export const NEWEST_FIRST: InstanceView = { sort: 'launch_time', order: 'desc', filter: '' }

/** From an address's query; what it does not say, or says wrongly, is as in `NEWEST_FIRST`. */
export function parseInstanceView(query: URLSearchParams): InstanceView {
  const column = INSTANCE_COLUMNS.find(({ key }) => key === query.get('sort'))
  const order = query.get('order')
  return {
    sort: column?.key ?? NEWEST_FIRST.sort,
    order: order === 'asc' || order === 'desc' ? order : column ? 'asc' : NEWEST_FIRST.order,
    filter: (query.get('q') ?? '').slice(0, 200),
  }
}

export function instanceViewPath({ sort, order, filter }: InstanceView): string {
  const query = new URLSearchParams()
  if (sort !== NEWEST_FIRST.sort || order !== NEWEST_FIRST.order) {
    query.set('sort', sort)
    query.set('order', order)
  }
  if (filter) query.set('q', filter)
  return query.size ? `/console?${query}` : '/console'
}

/** What a click on a column's name asks for: that column, and the other way round if it is sorted by it already. */
export function sortedBy(view: InstanceView, sort: SortKey): InstanceView {
  return { ...view, sort, order: view.sort === sort && view.order === 'asc' ? 'desc' : 'asc' }
}

/** Their digits are no numbers. */
const LITERAL: SortKey[] = ['instance_id', 'launch_time']

/** Those that hold every word of the filter in some field, sorted; an unknown value comes last either way. */
export function viewInstances(instances: Instance[], { sort, order, filter }: InstanceView, now: number): Instance[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const inWords = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  const compare = LITERAL.includes(sort) ? byCode : inWords.compare
  const sign = order === 'asc' ? 1 : -1
  return instances
    .filter((instance) => {
      if (!words.length) return true
      const text = searchText(instance)
      return words.every((word) => text.includes(word))
    })
    .map((instance) => ({ instance, value: sort === 'uptime' ? instanceUptime(instance, now) : instance[sort] }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
      if (typeof a.value === 'number' && typeof b.value === 'number') return sign * (a.value - b.value)
      return sign * compare(String(a.value), String(b.value))
    })
    .map(({ instance }) => instance)
}

function byCode(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function searchText(instance: Instance): string {
  const { name, instance_id, instance_type, state, status_check, private_ip, public_ip, owner_email } = instance
  return [name, instance_id, instance_type, state, status_check, private_ip, public_ip, owner_email]
    .join('\n')
    .toLowerCase()
}
