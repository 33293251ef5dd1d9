import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atMost, type Row } from './table.ts'

type Profile = { nodes: { id: number; callFrame: { functionName: string } }[]; samples: number[]; timeDeltas: number[] }

/** CPU that workerd spends before the Worker can answer its first request, from wrangler's own profile of the built bundle. */
export async function benchStartUp(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'proving-ground-start-up-'))
  const outfile = join(folder, 'start-up.cpuprofile')
  try {
    const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
    await promisify(execFile)('wrangler', ['check', 'startup', '--outfile', outfile], { env })
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(outfile, 'utf8')) as Profile
    const idle = new Set(
      nodes.filter(({ callFrame }) => /^\((idle|root)\)$/.test(callFrame.functionName)).map(({ id }) => id),
    )
    const us = timeDeltas.reduce((sum, delta, i) => sum + (idle.has(samples[i] ?? 0) ? 0 : delta), 0)
    return [atMost('Worker, CPU of a start-up', us / 1000, 60, 'ms')]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
