import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { CACHE } from '../stack/third-party.ts'

const run = promisify(execFile)

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** It opens only our own pages, so it may run as root, and without a usable /dev/shm. */
export const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-dev-shm-usage']

const PATIENCE_MS = 120_000

/** Its windows wait as long as a busy machine may need. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ ...(await findChromium()), args: CHROMIUM_FLAGS, timeout: PATIENCE_MS })
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS))
  return browser
}

export type Chromium = { executablePath: string; env: Record<string, string | undefined> }

/**
 * The browser CHROMIUM names; otherwise npm's, which is the same for everyone; otherwise the machine's; otherwise
 * Playwright's.
 */
export async function findChromium(): Promise<Chromium> {
  if (process.env.CHROMIUM) return startedBy(process.env.CHROMIUM)
  // npm's package has a build for this platform only.
  if (process.platform === 'linux' && process.arch === 'x64') return npmsChromium()
  return startedBy(PLACES.find((path) => existsSync(path)) ?? (await playwrightsChromium()))
}

function startedBy(path: string, more: Record<string, string> = {}): Chromium {
  const env = { ...process.env, ...more, CHROMIUM: path }
  return { executablePath: join(import.meta.dirname, 'chromium.sh'), env }
}

/** Unpacked once per version, with the libraries and fonts that a bare machine lacks. */
async function npmsChromium(): Promise<Chromium> {
  const main = import.meta.resolve('@sparticuz/chromium')
  const { version } = JSON.parse(readFileSync(new URL('../package.json', main), 'utf8'))
  const folder = join(CACHE, `chromium-${version}`)
  if (!existsSync(folder)) await unpack(main, folder)
  const libraries = [join(folder, 'al2023/lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  return startedBy(join(folder, 'chromium'), {
    LD_LIBRARY_PATH: libraries,
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
  })
}

/** The machine's own fonts come first. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`

async function unpack(main: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const partial = mkdtempSync(join(CACHE, 'unpacking-'))
  try {
    // The package unpacks into the temporary folder.
    const script = `
      import { inflate } from ${JSON.stringify(main)}
      for (const path of process.argv.slice(1)) await inflate(path)`
    const archives = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br']
    const paths = archives.map((name) => fileURLToPath(new URL(`../bin/${name}`, main)))
    const env = { ...process.env, TMPDIR: partial }
    await run(process.execPath, ['--input-type=module', '-e', script, ...paths], { env })
    writeFileSync(join(partial, 'fonts.conf'), FONTS)
    renameSync(partial, folder)
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

async function playwrightsChromium(): Promise<string> {
  const path = chromium.executablePath()
  if (existsSync(path)) return path
  const cli = fileURLToPath(new URL('cli.js', import.meta.resolve('playwright-core')))
  await run(process.execPath, [cli, 'install', '--no-shell', 'chromium'], { timeout: 300_000 }).catch(() => {})
  if (existsSync(path)) return path
  throw new Error(
    'No browser was found, and Playwright could not download one. Install Chromium or Chrome, or set CHROMIUM to its path.',
  )
}
