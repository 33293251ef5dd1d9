import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
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

/** It keeps no state. It chooses both its ports, so that two can run at once: by itself it serves HTTPS on a fixed one. */
export async function startStripeMock(): Promise<{ url: string; close(): Promise<void> }> {
  const args = ['-http-addr', '127.0.0.1:0', '-https-addr', '127.0.0.1:0', '-strict-version-check=false']
  const child = spawn(found(stripeMock), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let printed = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk
      const address = /Listening for HTTP at address: (\S+)/.exec(printed)?.[1]
      if (address) resolve(`http://${address}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    void exited.then(() => reject(new Error(`stripe-mock ended before it listened:\n${printed}`)))
  })
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
