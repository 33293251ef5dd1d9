import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median } from './median.ts'
import { atMost, type Row } from './table.ts'

type Profile = { nodes: { id: number; callFrame: { functionName: string } }[]; samples: number[]; timeDeltas: number[] }

const RUNS = 5

/** What workerd does before the Worker can answer, from wrangler's own profile of the built bundle. */
export async function benchStartUp(): Promise<Row[]> {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) times.push(await startUpMs())
  return [atMost(`Worker, startup CPU, median of ${RUNS}`, median(times), 60, 'ms')]
}

async function startUpMs(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'proving-ground-start-up-'))
  const outfile = join(folder, 'start-up.cpuprofile')
  try {
    const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
    await promisify(execFile)('wrangler', ['check', 'startup', '--outfile', outfile], { env })
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(outfile, 'utf8')) as Profile
    const idle = new Set(
      nodes.filter(({ callFrame }) => /^\((idle|root)\)$/.test(callFrame.functionName)).map(({ id }) => id),
    )
    return timeDeltas.reduce((sum, delta, i) => sum + (idle.has(samples[i] ?? 0) ? 0 : delta), 0) / 1000
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
