import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine's Chromium; CHROMIUM names another one. */
export function openBrowser(): Promise<Browser> {
  const found = process.env.CHROMIUM ?? PLACES.find(existsSync)
  if (!found)
    throw new Error(
      'Chromium was not found. Install it (Debian: apt-get install chromium), or set CHROMIUM to its path.',
    )
  return chromium.launch({
    executablePath: join(import.meta.dirname, 'chromium.sh'),
    env: { ...process.env, CHROMIUM: found },
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
