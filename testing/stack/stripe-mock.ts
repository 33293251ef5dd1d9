import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../dev/free-port.ts'
import { CACHE, found, type ThirdParty } from './third-party.ts'

const VERSION = '0.197.0'
const OURS = join(CACHE, `stripe-mock-${VERSION}`)

/**
 * Stripe's own mock, which checks every request against Stripe's published API description: STRIPE_MOCK, otherwise
 * the one in .cache.
 */
export const stripeMock: ThirdParty = {
  name: `stripe-mock ${VERSION}`,
  find: () => [process.env.STRIPE_MOCK || join(OURS, 'stripe-mock')].find((path) => existsSync(path)) ?? null,
  install: [['go', 'install', `github.com/stripe/stripe-mock@v${VERSION}`]],
  env: { GOBIN: OURS },
}

/** It keeps no state. */
export async function startStripeMock(): Promise<{ url: string; close(): Promise<void> }> {
  const program = found(stripeMock)
  const port = await freePort()
  const child = spawn(program, ['-http-addr', `127.0.0.1:${port}`, '-strict-version-check=false'], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; ; attempt++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) break
    if (child.exitCode !== null || attempt > 2_000) throw new Error('stripe-mock did not become ready.')
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
