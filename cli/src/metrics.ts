import { sizeText } from '../../src/domain/files.ts'
import type { Metrics } from '../../src/domain/run-metrics.ts'
import { call } from './api.ts'
import type { Site } from './site.ts'

/** As often as a machine measures how busy it is. */
export const EVERY_MS = 10_000

/** @param since ms since 1970, by the server's clock */
export const readMetrics = (site: Site, id: string, since: number): Promise<Metrics> => {
  const query = { since: new Date(since).toISOString() }
  return call(site, (client) => client.GET('/api/v1/servers/{id}/metrics', { params: { path: { id }, query } }))
}

/** How busy the machine is by its last two samples, in one line; empty if nothing is known. */
export function metricsText(samples: Metrics['samples']): string {
  const [before, last] = [samples.at(-2), samples.at(-1)]
  if (!last) return ''
  const seconds = before ? (Date.parse(last.at) - Date.parse(before.at)) / 1000 : 0
  const rate = (name: 'sent_bytes' | 'received_bytes') => {
    const [from, to] = [before?.[name] ?? null, last[name]]
    return from === null || to === null || to < from ? null : `${sizeText(Math.round((to - from) / seconds))}/s`
  }
  const percent = (value: number | null) => (value === null ? null : `${value} %`)
  const size = (value: number | null) => (value === null ? null : sizeText(value))
  const parts: [string, (string | null)[]][] = [
    ['GPU', [percent(last.gpu_percent), size(last.gpu_memory_bytes)]],
    ['CPU', [percent(last.cpu_percent)]],
    ['memory', [size(last.memory_bytes)]],
    ['disk', [size(last.disk_bytes)]],
    ['sent', [rate('sent_bytes')]],
    ['received', [rate('received_bytes')]],
  ]
  const known = parts.map(([name, values]) => [name, values.filter((value) => value !== null).join(', ')] as const)
  return known.flatMap(([name, values]) => (values ? [`${name} ${values}`] : [])).join('  ')
}
