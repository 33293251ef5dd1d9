type Labels = Record<string, string>

/** One metric: its samples share a name and differ in their labels. */
export type Metric = {
  name: string
  type: 'counter' | 'gauge'
  help: string
  samples: { labels?: Labels; value: number }[]
}

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Prometheus' text format 0.0.4. The libraries for it count in a process' memory, which a Worker doesn't have. */
export function toPrometheus(metrics: Metric[]): string {
  return metrics
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ labels = {}, value }) => `${name}${toLabels(labels)} ${value}`),
      '',
    ])
    .join('\n')
}

function toLabels(labels: Labels): string {
  const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length ? `{${pairs.join(',')}}` : ''
}
