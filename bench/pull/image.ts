import { spawnSync } from 'node:child_process'
import { createCipheriv, createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'

const MB = 1_000_000
/** One layer with the engine, a few with its libraries, and many small ones: 1.2 GB. */
const LAYER_MB = [240, 120, 120, 120, ...Array<number>(20).fill(30)]
/** Of each layer, what no compressor makes smaller, as textures and recordings. */
const INCOMPRESSIBLE = 0.15
/** So that a file has 0.1 MB on average, and none fills a layer. With many small ones, creating them would decide. */
const [LEAST_BYTES, MOST_BYTES] = [8_192, 25 * MB]
const FOLDERS = ['/usr/lib', '/usr/share', join(import.meta.dirname, '../../node_modules')]
const REPOSITORY = 'simulator'

/** BuildKit's own levels. */
const COMPRESSIONS = {
  gzip: (data: Buffer) => gzipSync(data, { level: 6 }),
  zstd: (data: Buffer) => zstdCompressSync(data, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
}
export type Compression = keyof typeof COMPRESSIONS
type Blob = { digest: string; size: number }

export type Pushed = { name: string; layers: number; bytes: number; compressed: number }

/**
 * Makes an image of this machine's programs, the same each time they are, and pushes it with each compression.
 * @param registry its origin
 */
export async function pushImages(
  registry: string,
  folder: string,
  stopped: AbortSignal,
): Promise<Record<Compression, Pushed>> {
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  const files = programFiles()
  const made = { gzip: [] as Blob[], zstd: [] as Blob[] }
  const diffs: string[] = []
  let bytes = 0
  for (const [i, mb] of LAYER_MB.entries()) {
    stopped.throwIfAborted()
    const noise = Math.round(mb * MB * INCOMPRESSIBLE)
    writeFileSync(
      join(assets, `${i}.bin`),
      createCipheriv('aes-128-ctr', Buffer.alloc(16, i), Buffer.alloc(16)).update(Buffer.alloc(noise)),
    )
    const layer = packed(folder, `assets/${i}.bin`, takeFiles(files, mb * MB - noise))
    diffs.push(digestOf(layer))
    bytes += layer.length
    for (const kind of ['gzip', 'zstd'] as const) made[kind].push(await push(registry, COMPRESSIONS[kind](layer)))
  }
  const config = {
    architecture: 'amd64',
    os: 'linux',
    config: { Cmd: ['/simulator'] },
    rootfs: { type: 'layers', diff_ids: diffs },
  }
  const configBlob = await push(registry, Buffer.from(JSON.stringify(config)))
  const tag = async (kind: Compression): Promise<Pushed> => {
    const type = 'application/vnd.oci.image'
    const manifest = {
      schemaVersion: 2,
      mediaType: `${type}.manifest.v1+json`,
      config: { mediaType: `${type}.config.v1+json`, ...configBlob },
      layers: made[kind].map((blob) => ({ mediaType: `${type}.layer.v1.tar+${kind}`, ...blob })),
    }
    const headers = { 'content-type': manifest.mediaType }
    await put(`${registry}/v2/${REPOSITORY}/manifests/${kind}`, headers, JSON.stringify(manifest))
    const compressed = made[kind].reduce((sum, { size }) => sum + size, 0)
    return { name: `${new URL(registry).host}/${REPOSITORY}:${kind}`, layers: LAYER_MB.length, bytes, compressed }
  }
  return { gzip: await tag('gzip'), zstd: await tag('zstd') }
}

type File = { path: string; size: number }

/** Programs and libraries: a package's beside each other, the packages in an order that doesn't depend on their names. */
function programFiles(): File[] {
  const { status, stdout, stderr } = spawnSync('find', [...FOLDERS, '-xdev', '-type', 'f', '-printf', '%s %p\\0'], {
    maxBuffer: 1_000 * MB,
  })
  if (status !== 0) throw new Error(`find failed: ${stderr}`)
  const files = stdout
    .toString()
    .split('\0')
    .slice(0, -1)
    .map((line) => ({ path: line.slice(line.indexOf(' ') + 1), size: Number.parseInt(line, 10) }))
    .filter(({ size }) => size >= LEAST_BYTES && size <= MOST_BYTES)
  const packages = Map.groupBy(files, ({ path }) => packageOf(path))
  const orders = new Map([...packages.keys()].map((name) => [name, createHash('sha256').update(name).digest('hex')]))
  const inOrder = [...packages]
    .sort(([a], [b]) => ((orders.get(a) ?? '') < (orders.get(b) ?? '') ? -1 : 1))
    .flatMap(([, its]) => its.sort((a, b) => (a.path < b.path ? -1 : 1)))
  const [total, needed] = [
    files.reduce((sum, { size }) => sum + size, 0),
    LAYER_MB.reduce((sum, mb) => sum + mb * MB, 0),
  ]
  if (total < needed)
    throw new Error(`The bench needs ${needed / MB} MB in ${FOLDERS.join(', ')}, and found ${Math.round(total / MB)}.`)
  return inOrder
}

/** The folder or file right in one of FOLDERS. */
function packageOf(path: string): string {
  const folder = FOLDERS.find((one) => path.startsWith(`${one}/`)) ?? ''
  return path.slice(folder.length + 1).split('/', 1)[0] ?? ''
}

/** Takes the next ones, until they have so many bytes. */
function takeFiles(files: File[], bytes: number): string[] {
  let left = bytes
  let count = 0
  while (left > 0 && count < files.length) left -= files[count++]?.size ?? 0
  return files.splice(0, count).map(({ path }) => path)
}

function packed(folder: string, asset: string, files: string[]): Buffer {
  const same = ['--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--hard-dereference', '--no-recursion']
  const words = ['--create', ...same, '--directory', folder, asset, '--directory', '/', '--null', '--files-from=-']
  const { status, stdout, stderr } = spawnSync('tar', words, {
    input: files.map((path) => `${path.slice(1)}\0`).join(''),
    maxBuffer: 1_000 * MB,
  })
  if (status !== 0) throw new Error(`tar failed: ${stderr}`)
  return stdout
}

async function push(registry: string, data: Buffer): Promise<Blob> {
  const blob = { digest: digestOf(data), size: data.length }
  const begun = await fetch(`${registry}/v2/${REPOSITORY}/blobs/uploads/`, { method: 'POST' })
  await begun.arrayBuffer()
  const url = new URL(begun.headers.get('location') ?? '', registry)
  url.searchParams.set('digest', blob.digest)
  await put(url.href, { 'content-type': 'application/octet-stream' }, data)
  return blob
}

async function put(url: string, headers: Record<string, string>, body: Buffer | string): Promise<void> {
  const answer = await fetch(url, { method: 'PUT', headers, body: body as BodyInit })
  if (!answer.ok) throw new Error(`The registry refused: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

function digestOf(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`
}
