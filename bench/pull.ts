import { execFile, spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startGuard } from '../dev/guard.ts'
import { atEnd, endAll, temporaryFolder } from '../testing/stack/at-end.ts'
import { median } from './median.ts'
import { type Engine, startEngine, startRegistry } from './pull/engine.ts'
import { type Compression, pushImages } from './pull/image.ts'
import { amount, type Row, told } from './table.ts'

const ROUNDS = 3
const PULL_MS = 10 * 60_000
const NEEDED_BYTES = 8_000_000_000
/** The first that unpacks zstd, and can use containerd's image store, is 24. */
const LEAST_DOCKER = 24

type Way = 'ours' | 'plain'
type Pull = { seconds: number; cpu: number }
const SIDES = (['gzip', 'zstd'] as const).flatMap((compression) =>
  (['ours', 'plain'] as const).map((way) => ({ compression, way })),
)
const STORES = [
  { name: "Docker's own store", isContainerd: false },
  { name: "containerd's store", isContainerd: true },
]

/**
 * Pulls an image of 1.2 GB from a registry on loopback: gzip beside zstd, and the agent beside `docker pull`, by turns,
 * each with an empty store. The network is free here, and what a pull writes fits into memory: what counts is to
 * decompress it and to create its files.
 */
export async function benchPull(): Promise<Row[]> {
  const docker = requirePrograms()
  const guard = startGuard()
  // Ctrl-C first ends everything that it started.
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const folder = temporaryFolder('bench-pull')
    const registry = await startRegistry(guard, folder)
    atEnd(registry.end)
    const images = await pushImages(registry.url, folder, interrupted.signal)
    const rows = [
      told('Docker Engine', `${docker}, ${hasProgram('unpigz') ? 'with' : 'without'} unpigz`),
      told('this machine', `${cpus().length} × ${cpus()[0]?.model}`),
      ...(['gzip', 'zstd'] as const).map((kind) => {
        const { layers, bytes, compressed } = images[kind]
        return told(`${kind}: ${layers} layers, ${Math.round(bytes / 1e6)} MB`, `${Math.round(compressed / 1e6)} MB`)
      }),
    ]
    for (const store of STORES) {
      const pulls = new Map<string, Pull[]>()
      for (let round = 1; round <= ROUNDS; round++)
        for (const { compression, way } of round % 2 ? SIDES : SIDES.toReversed()) {
          const side = `${compression}, ${way}`
          const engine = await startEngine(guard, folder, store.isContainerd)
          const one = await pull(engine, way, images[compression].name, interrupted.signal).finally(engine.end)
          pulls.set(side, [...(pulls.get(side) ?? []), one])
          // It takes many minutes: say how far it is.
          console.log(`${store.name}, round ${round} of ${ROUNDS}, ${side}: ${inWords(one)}`)
        }
      rows.push(...storeRows(store.name, (compression, way) => pulls.get(`${compression}, ${way}`) ?? []))
    }
    return rows
  } finally {
    await endAll()
    guard.close()
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

const inWords = ({ seconds, cpu }: Pull) => `${amount(seconds, 's')}, CPU ${amount(cpu, 's')}`

function storeRows(store: string, of: (compression: Compression, way: Way) => Pull[]): Row[] {
  const medians = SIDES.map(({ compression, way }) => {
    const pulls = of(compression, way)
    const usual = { seconds: median(pulls.map((one) => one.seconds)), cpu: median(pulls.map((one) => one.cpu)) }
    return told(`${store}: ${compression}, ${way}`, inWords(usual))
  })
  // Each with what ran beside it in its round: this machine's speed changes from minute to minute.
  const ratio = (what: string, above: Pull[], below: Pull[]) => {
    const of = (field: keyof Pull) => above.map((one, i) => one[field] / (below[i]?.[field] ?? Number.NaN))
    const [seconds, cpu] = [of('seconds'), of('cpu')]
    const range = `${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)}`
    return told(`${store}: ${what}`, `${median(seconds).toFixed(2)} (${range}), CPU ${median(cpu).toFixed(2)}`)
  }
  return [
    ...medians,
    ratio('zstd to gzip, ours', of('zstd', 'ours'), of('gzip', 'ours')),
    ratio('zstd to gzip, plain', of('zstd', 'plain'), of('gzip', 'plain')),
    ratio('ours to plain, gzip', of('gzip', 'ours'), of('gzip', 'plain')),
    ratio('ours to plain, zstd', of('zstd', 'ours'), of('zstd', 'plain')),
  ]
}

/** @throws if it fails */
async function pull(engine: Engine, way: Way, image: string, signal: AbortSignal): Promise<Pull> {
  const host = `unix://${engine.socket}`
  const [program, args] =
    way === 'ours'
      ? ['python3', ['-B', join(import.meta.dirname, 'pull/agent_pull.py'), engine.socket, image]]
      : // Without the logins that this machine has.
        ['docker', ['--config', `${engine.socket}.config`, '--host', host, 'pull', image]]
  const before = engine.cpuSeconds()
  const from = performance.now()
  await promisify(execFile)(program, args, { timeout: PULL_MS, signal })
  return { seconds: (performance.now() - from) / 1_000, cpu: engine.cpuSeconds() - before }
}

const hasProgram = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0

/** @returns Docker's version. @throws with what this machine lacks */
function requirePrograms(): string {
  const missing = ['dockerd', 'containerd', 'docker', 'docker-registry', 'python3', 'tar', 'unshare'].filter(
    (name) => !hasProgram(name),
  )
  if (missing.length)
    throw new Error(`The bench needs ${missing.join(', ')}: on Debian, docker.io, docker-registry, and python3.`)
  if (process.getuid?.() !== 0) throw new Error('The bench starts a Docker Engine of its own, so run it as root.')
  const version = /version (\d+[^,\s]*)/.exec(spawnSync('dockerd', ['--version']).stdout.toString())?.[1] ?? 'unknown'
  if (Number.parseInt(version, 10) < LEAST_DOCKER)
    throw new Error(`The bench needs Docker Engine ${LEAST_DOCKER}, not ${version}: older ones can't unpack zstd.`)
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize < NEEDED_BYTES) throw new Error(`The bench needs ${NEEDED_BYTES / 1e9} GB in ${tmpdir()}.`)
  return version
}
