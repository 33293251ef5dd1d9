import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { hasMachineTools } from '../../testing/stack/machine-tools.ts'
import { metadataService } from '../../testing/stack/metadata-service.ts'
import { serve } from '../../testing/stack/serve.ts'

const SCRIPT = resolve(import.meta.dirname, '../../infra/image/files.sh')
const ANSWER = {
  Endpoint: 'https://s3.us-east-1.amazonaws.com',
  Region: 'us-east-1',
  Bucket: 'b',
  Prefix: 'u/',
  Mode: 'write',
}
const proof = { document: Buffer.from('{}').toString('base64'), signature: 'c2lnbmVk' }

/** What GitHub has as the release's archive. */
const archive = Buffer.from('an archive')
const sum = createHash('sha256').update(archive).digest('hex')

/** Each writes down its call. `curl` fetches from here what the script wants from GitHub; `apt-get` fails as often as told. */
const PROGRAMS: Record<string, string> = {
  curl: `words=()
for word; do [[ $word != https://github.com/* ]] || word=$RELEASE; words+=("$word"); done
exec "$CURL" "\${words[@]}"`,
  'apt-get': `left=$(<"$APT_FAILURES"); ((left == 0)) || { echo $((left - 1)) >"$APT_FAILURES"; exit 100; }`,
  python3: 'exit "$BROKEN_ARCHIVE"',
  install: '',
  mv: '',
  rclone: 'exit 1',
  systemctl: '',
  journalctl: '',
  sleep: '',
}

type Options = { served?: Buffer; aptFailures?: number; brokenArchive?: boolean }

/** \`files load\` on a machine that has neither rclone nor fuse3. */
async function load({ served = archive, aptFailures = 0, brokenArchive = false }: Options) {
  const folder = temporaryFolder('machine-programs')
  const at = (name: string) => join(folder, name)
  const note = `#!/bin/bash\necho "\${0##*/} $*" >>"${at('calls')}"\n`
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(at(name), note + text)
    chmodSync(at(name), 0o755)
  }
  // fusermount3 may be on this machine, so the script looks for a name that is on none.
  const script = readFileSync(SCRIPT, 'utf8')
    .replace(/^sum=.*/m, `sum=${sum}`)
    .replace('v fusermount3', 'v fusermount-none')
  writeFileSync(at('files'), script)
  chmodSync(at('files'), 0o755)
  writeFileSync(at('apt-failures'), String(aptFailures))
  const metadata = metadataService({}, proof)
  await new Promise<void>((done) => metadata.listen(0, '127.0.0.1', done))
  atEnd(() => metadata.close())
  const site = await serve((_, response) => response.end(JSON.stringify(ANSWER)))
  const release = await serve((_, response) => response.end(served))
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    CURL: spawnSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).stdout.trim(),
    RELEASE: release,
    APT_FAILURES: at('apt-failures'),
    BROKEN_ARCHIVE: brokenArchive ? '1' : '0',
    METADATA_URL: `http://127.0.0.1:${(metadata.address() as AddressInfo).port}`,
    SITE: site,
    FILES_RUN: at('run'),
    DATA: at('data'),
    FILES_PATIENCE: '0',
  }
  const { promise, resolve: done } = Promise.withResolvers<{ code: number | null; said: string }>()
  const { spawn } = await import('node:child_process')
  const bash = spawn(at('files'), ['load'], { env })
  let said = ''
  for (const stream of [bash.stdout, bash.stderr]) stream.on('data', (chunk) => (said += chunk))
  bash.once('close', (code) => done({ code, said }))
  const calls = () => readFileSync(at('calls'), 'utf8').trim().split('\n')
  return { ...(await promise), names: calls().map((call) => call.split(' ')[0]), calls: calls() }
}

describe.skipIf(!hasMachineTools)('the programs that a machine installs for its files', () => {
  test('are there once each step worked', async () => {
    const { code, names, calls } = await load({})
    expect(code).toBe(0)
    expect(names.filter((name) => name !== 'curl')).toEqual([
      ...['rclone', 'apt-get', 'python3', 'install', 'mv', 'systemctl'],
    ])
    expect(calls.find((call) => call.startsWith('apt-get'))).toContain('DPkg::Lock::Timeout=60')
  })

  test('are not installed with a wrong sum', async () => {
    const { code, said, names } = await load({ served: Buffer.from('another archive') })
    expect(names).not.toContain('python3')
    expect(names).not.toContain('install')
    expect(names).not.toContain('systemctl')
    expect([code, said]).toEqual([1, expect.stringMatching(/FAILED[\s\S]*rclone could not be installed\n$/)])
  })

  test('are not installed from an archive that does not open', async () => {
    const { code, names } = await load({ brokenArchive: true })
    expect([code, names.includes('install')]).toEqual([1, false])
  })

  test('get a newer list of packages if the old one does not have them, and end the attempt without them', async () => {
    const apt = ({ calls }: { calls: string[] }) =>
      calls.filter((call) => call.startsWith('apt-get')).map((call) => call.replace(/.*--quiet /, ''))
    const again = await load({ aptFailures: 1 })
    expect([again.code, apt(again)]).toEqual([0, ['install fuse3', 'update', 'install fuse3']])
    const never = await load({ aptFailures: 9 })
    expect([never.code, never.names.includes('python3')]).toEqual([1, false])
  })
})
