import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { insist, Unanswered } from './site.mts'

const VERSION = '1.75.1'
/** Of https://downloads.rclone.org/v1.75.1/SHA256SUMS, which rclone's release key signs. */
const SUMS: Record<string, string> = {
  'linux-amd64': '982b5aa772841168f8e380f139e9e787b2a105403e32b94da8676a0e1c0a13ab',
  'linux-arm64': '03f2504174034b6d004152ed7369251c9a9ec1f7e0836eda420f5c7a5ec0dff9',
  'osx-amd64': '29253d0288b8fbbac46baad6e5f6add6cb01d462c79f10805bbd4631c4cdf82c',
  'osx-arm64': 'c61d7a371c62bcbbe882c3423aa4b8bf63485c248dd0f692997b8f0c3f6d0c6f',
  'windows-amd64': '200eb602c126d82aa38b51e0f6b9ae837473ff99b51278d3f6f837574c494d6e',
  'windows-arm64': 'c3c6cd0424dd49076ad179c30c3f9e5cde2c004ec07ea9fe6911f23e32eafe0f',
}
const SYSTEMS: Record<string, string> = { linux: 'linux', darwin: 'osx', win32: 'windows' }
const CHIPS: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

/** Puts rclone into this folder. @throws if it isn't the one we know */
export async function fetchRclone(
  folder: string,
  {
    from = 'https://downloads.rclone.org',
    sums = SUMS,
    platform = process.platform as string,
    arch = process.arch as string,
  } = {},
): Promise<void> {
  const build = `${SYSTEMS[platform]}-${CHIPS[arch]}`
  const sum = sums[build]
  if (!sum) throw new Error(`There is no rclone for ${platform} on ${arch} here. Install it in a step before.`)
  const url = `${from}/v${VERSION}/rclone-v${VERSION}-${build}.zip`
  const zip = await insist(async () => {
    const signal = AbortSignal.timeout(120_000)
    const answer = await fetch(url, { signal }).catch(() => null)
    const bytes = answer?.ok ? await answer.arrayBuffer().catch(() => null) : null
    if (!bytes) throw new Unanswered(`${url} didn't answer.`)
    return Buffer.from(bytes)
  })
  const is = createHash('sha256').update(zip).digest('hex')
  if (is !== sum) throw new Error(`${url} isn't the rclone we know: its SHA-256 is ${is}, not ${sum}.`)
  const name = platform === 'win32' ? 'rclone.exe' : 'rclone'
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), unzipped(zip, name), { mode: 0o755 })
}

/** The bytes of one file of a ZIP: its directory, which is at its end, says where they begin. */
function unzipped(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, ...others] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    if (zip.toString('utf8', at + 46, at + 46 + nameLength).endsWith(`/${name}`)) {
      const entry = zip.readUInt32LE(at + 42)
      const start = entry + 30 + zip.readUInt16LE(entry + 26) + zip.readUInt16LE(entry + 28)
      const packed = zip.subarray(start, start + zip.readUInt32LE(at + 20))
      return zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed)
    }
    at += 46 + nameLength + others[0] + others[1]
  }
  throw new Error(`There is no ${name} in rclone's ZIP.`)
}
