import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000
/** How long before rclone would renew its credentials. */
const EARLIER_MS = 60_000
const RETRY_MS = 30_000

/** How `rclone rc` reaches a running rclone: with a password that other users of this computer can't see. */
export async function openControl() {
  const [address, user, password] = [`127.0.0.1:${await freePort()}`, 'we', randomBytes(16).toString('hex')]
  return {
    args: ['--rc', '--rc-addr', address],
    env: { RCLONE_RC_USER: user, RCLONE_RC_PASS: password },
    callEnv: { RCLONE_URL: `http://${user}:${password}@${address}` },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/**
 * rclone signs with the key of its first credentials for as long as their ID stays, and all of R2's have the same ID
 * (aws/aws-sdk-go-v2#3350). So before it would renew them, it connects anew. A timer would stop while a laptop sleeps.
 * @param renew gets new credentials, connects with them, and returns when they end
 */
export async function renewUntil(signal: AbortSignal, firstEnd: number, renew: () => Promise<number>): Promise<void> {
  for (let end = firstEnd; !signal.aborted; ) {
    await sleep(LOOK_MS, null, { signal, ref: false }).catch(() => {})
    if (!signal.aborted && Date.now() >= end - EARLIER_MS)
      // By a clock that is fast, even new ones have ended.
      end = Math.max(await renew().catch(() => 0), Date.now() + EARLIER_MS + RETRY_MS)
  }
}
