import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { fetchRclone } from '../../cli/action/rclone.mts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

/** A ZIP as rclone's: deflated, with what else is in it first. */
function zipOf(files: Record<string, string>): Buffer {
  const [entries, directory]: [Buffer[], Buffer[]] = [[], []]
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(text), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(Buffer.byteLength(text), 18)
    fields.writeUInt16LE(name.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(Buffer.concat(entries).length, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, tail, Buffer.from(name))
    entries.push(Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed)
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(Buffer.concat(entries).length, 16)
  return Buffer.concat([...entries, ...directory, end])
}

async function serve(zip: Buffer) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end(zip)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return { asked, from: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test.each([
  ['linux', 'x64', 'linux-amd64', 'rclone'],
  ['darwin', 'arm64', 'osx-arm64', 'rclone'],
  ['win32', 'x64', 'windows-amd64', 'rclone.exe'],
])('fetches rclone for %s on %s', async (platform, arch, build, name) => {
  const zip = zipOf({ 'r/rclone.1': 'manual', [`r/${name}`]: 'the program', 'r/README.txt': 'text' })
  const { asked, from } = await serve(zip)
  const folder = join(temporaryFolder('action-rclone'), 'new')
  await fetchRclone(folder, { from, sums: { [build]: sha256(zip) }, platform, arch })
  expect(asked).toEqual([expect.stringMatching(`^/v([\\d.]+)/rclone-v\\1-${build}\\.zip$`)])
  expect(readFileSync(join(folder, name), 'utf8')).toBe('the program')
  expect(statSync(join(folder, name)).mode & 0o100).toBe(0o100)
})

test('refuses another rclone than the one it knows', async () => {
  const { from } = await serve(zipOf({ 'r/rclone': 'another program' }))
  const folder = temporaryFolder('action-rclone')
  await expect(fetchRclone(folder, { from, platform: 'linux', arch: 'x64' })).rejects.toThrow(
    "isn't the rclone we know",
  )
  await expect(fetchRclone(folder, { from, platform: 'sunos', arch: 'x64' })).rejects.toThrow('no rclone for sunos')
})
