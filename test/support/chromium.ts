import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine's Chromium; CHROMIUM names another one. */
export function openBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? PLACES.find(existsSync)
  if (!executablePath)
    throw new Error(
      'Chromium was not found. Install it (Debian: apt-get install chromium), or set CHROMIUM to its path.',
    )
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
