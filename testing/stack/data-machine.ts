import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { atEnd, temporaryFolder } from './at-end.ts'
import { hasMachineTools } from './machine-tools.ts'
import { metadataService, type Proof } from './metadata-service.ts'
import { rclone } from './rclone.ts'
import { found, isSkipped } from './third-party.ts'

const SCRIPT = resolve(import.meta.dirname, '../../infra/image/files.sh')

/** Whether rclone can reach the bucket as a machine does. With CI=true, its tests fail without what they need. */
export const canSync = Boolean(process.env.CI) || (hasMachineTools && !isSkipped(rclone))

/** Whether files.sh can run for real: with file systems of its own as well. */
export const canMount =
  Boolean(process.env.CI) ||
  (canSync && spawnSync('sh', ['-c', 'command -v fusermount3 && test -w /dev/fuse']).status === 0)

/** What files.sh sets for the mount, and a sync of the same folder instead: up, or else down. */
const SYNC = `
answer=$("$SCRIPT" credentials)
field() { [[ $answer =~ \\"$1\\":\\"([A-Za-z0-9:/._-]*)\\" ]] && printf %s "\${BASH_REMATCH[1]}"; }
printf '[default]\ncredential_process = %s credentials\n' "$SCRIPT" >"$FILES_RUN/aws"
export AWS_CONFIG_FILE=$FILES_RUN/aws AWS_EC2_METADATA_DISABLED=true RCLONE_S3_PROVIDER=Other
export RCLONE_S3_ENDPOINT=$(field Endpoint) RCLONE_S3_REGION=$(field Region)
sides=("$DATA" ":s3:$(field Bucket)/$(field Prefix)")
[[ $1 == up ]] || sides=("\${sides[1]}" "\${sides[0]}")
exec rclone sync "\${sides[@]}" --config '' --s3-env-auth --s3-no-check-bucket --s3-list-version 2 \
  --s3-list-url-encode=true --use-server-modtime --size-only --transfers 32
`

/** As systemd for data.service, but the mount stays ours to kill. */
const SYSTEMCTL = `#!/bin/bash
[[ $* == 'start data' ]] || exit 0
setsid "$SCRIPT" mount >>"$LOG" 2>&1 &
echo $! >"$FILES_RUN/pid"
for try in {1..300}; do
  mountpoint --quiet "$DATA" && exit 0
  kill -0 $! || exit 1
  sleep 0.1
done
exit 1
`

/** A machine's own side of its user's files: files.sh and rclone for real, with a folder instead of /data. */
export async function dataMachine(options: {
  siteUrl: string
  address: string
  proof: Proof
  patience: number
  /** Seconds between two new connections. */
  reconnect?: number
}) {
  const folder = temporaryFolder('data-machine')
  const at = (name: string) => join(folder, name)
  for (const name of ['bin', 'run', 'cache', 'data']) mkdirSync(at(name))
  writeFileSync(at('bin/systemctl'), SYSTEMCTL)
  chmodSync(at('bin/systemctl'), 0o755)
  const metadata = await listen(metadataService({}, options.proof))
  const front = await listen(cloudflare(options.siteUrl, options.address))
  const env = {
    PATH: `${at('bin')}:${dirname(found(rclone))}:${process.env.PATH}:/usr/sbin:/sbin`,
    HOME: folder,
    SCRIPT,
    LOG: at('log'),
    DATA: at('data'),
    FILES_RUN: at('run'),
    FILES_CACHE: at('cache'),
    FILES_PATIENCE: String(options.patience),
    FILES_RECONNECT: String(options.reconnect ?? 600),
    METADATA_URL: metadata.url,
    SITE: front.url,
  }
  const pid = () => Number(readFileSync(at('run/pid'), 'utf8'))
  const bash = (...args: string[]) =>
    new Promise<{ code: number | null; text: string }>((resolve) => {
      const child: ChildProcess = spawn('bash', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let text = ''
      child.stdout?.on('data', (chunk) => (text += chunk))
      child.stderr?.on('data', (chunk) => (text += chunk))
      child.once('close', (code) => resolve({ code, text }))
    })
  const unmount = () => spawnSync('umount', ['--lazy', at('data')])
  atEnd(async () => {
    unmount()
    try {
      // rclone, and what reconnects it.
      process.kill(-pid(), 'SIGKILL')
    } catch {}
    await Promise.all([metadata.close(), front.close()])
  })
  return {
    data: at('data'),
    cache: at('cache'),
    /** A verb of files.sh. */
    run: (verb: string) => bash(SCRIPT, verb),
    /**
     * A program that uses many files. It needs a process of its own: this one may run the stack, and while its few
     * threads wait for the mount, the bucket behind it can't answer.
     */
    script: (text: string) => bash('-euc', `cd "$DATA"; ${text}`),
    /** Where nothing can be mounted: rclone with the machine's own credentials. */
    sync: (direction: 'up' | 'down') => bash('-euc', SYNC, 'sync', direction),
    log: () => readFileSync(at('log'), 'utf8'),
    /** As when the machine loses its power, except that its disk is still there. */
    kill() {
      process.kill(pid(), 'SIGKILL')
      unmount()
    },
    /** As systemd, after `files save`. */
    async end() {
      process.kill(pid(), 'SIGTERM')
      while (spawnSync('mountpoint', ['--quiet', at('data')]).status === 0)
        await new Promise((done) => setTimeout(done, 50))
    },
  }
}

/** Says where a request comes from, as Cloudflare does. */
export function cloudflare(siteUrl: string, address: string): Server {
  return createServer((incoming, response) => {
    const headers = { ...incoming.headers, host: new URL(siteUrl).host, 'cf-connecting-ip': address }
    const onward = request(siteUrl + incoming.url, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
}

async function listen(server: Server) {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = async () => {
    const closed = new Promise((done) => server.close(done))
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
