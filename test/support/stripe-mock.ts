import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../dev/free-port.ts'

/** Stripe's own mock, which checks every request against Stripe's published description of its API. It keeps no state. */
export async function startStripeMock(): Promise<{ url: string; close(): Promise<void> }> {
  const binary = process.env.STRIPE_MOCK ?? join(import.meta.dirname, '../../.cache/bin/stripe-mock')
  if (!existsSync(binary))
    throw new Error(
      `stripe-mock is not installed (${binary}). Run scripts/install-stripe-mock.sh (needs Go), or name a binary in STRIPE_MOCK.`,
    )
  const port = await freePort()
  const child = spawn(binary, ['-http-addr', `127.0.0.1:${port}`, '-strict-version-check=false'], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; ; attempt++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) break
    if (child.exitCode !== null || attempt > 200) throw new Error('stripe-mock did not become ready')
    await sleep(50)
  }
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
