import { expect, inject, test } from 'vitest'
import { metricsText } from '../../cli/src/metrics.ts'
import { METRICS, type Metrics } from '../../src/domain/run-metrics.ts'
import { waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { machinesOf } from '../../testing/people/machines.ts'

type Sample = Metrics['samples'][number]

const UNKNOWN = Object.fromEntries(METRICS.map((name) => [name, null]))
const sample = (second: number, known: Partial<Sample>) =>
  ({ at: new Date(second * 1_000).toISOString(), ...UNKNOWN, ...known }) as Sample

test('says in a line how busy a machine is, and nothing of what is not known', () => {
  const before = sample(0, { sent_bytes: 1_000, received_bytes: 9_000 })
  const after = sample(10, {
    gpu_percent: 0,
    gpu_memory_bytes: 6e9,
    cpu_percent: 7,
    sent_bytes: 21_000,
    received_bytes: 10,
  })
  expect(metricsText([before, after])).toBe('GPU 0 %, 6 GB  CPU 7 %  sent 2 kB/s')
  expect(metricsText([sample(0, { disk_bytes: 999, memory_bytes: 1e9, sent_bytes: 5 })])).toBe(
    'memory 1 GB  disk 999 bytes',
  )
  expect([metricsText([]), metricsText([sample(0, {})])]).toEqual(['', ''])
})

test('status --watch --json has the newest sample', async () => {
  const url = inject('url')
  const machines = machinesOf(url, inject('databaseUrl'))
  const { start, person } = await newOperator(url)
  const machine = await machines.startMachine(person)
  const unknown = Object.fromEntries([...METRICS, 'disk_total_bytes'].map((name) => [name, null]))
  const samples = [{ at: 1e14, ...unknown, gpu_percent: 87 }]
  const first = await machines.nextOf(machine)
  const watch = start(['status', '--watch', '--json'])
  // The stand-in's machine says what it measures as well, every 10 seconds.
  await waitFor(async () => {
    expect((await machines.say(machine, { first, samples })).status).toBe(200)
    return /"metrics":\{"at":"[^"]+","gpu_percent":87,/.test(watch.seen.out)
  })
  watch.interrupt()
  await watch.ended
})
