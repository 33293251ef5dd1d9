import { clientFile, gzKb, scriptsOf, startUpFiles, workerFiles } from './built-files.ts'
import { atMost, type Row } from './table.ts'

/** Public pages: what visitors see without signing in. */
export const PUBLIC_PAGES = [
  '/',
  '/pricing',
  '/contact_sales',
  '/help',
  '/privacy',
  '/security',
  '/terms_of_service',
  '/docs',
  '/docs/events',
  '/docs/cli',
  '/docs/ci',
  '/docs/billing',
  '/docs/images',
  '/docs/ports',
  '/docs/search',
  '/no-such-page',
  '/sign_in',
  '/sign_up',
  '/confirm_email',
  '/forgot_password',
  '/reset_password',
]

/** The others are text and load almost no script. */
const WITH_ISLAND = new Set(['/', '/sign_in', '/sign_up', '/confirm_email'])
/** The enhancements that the page's own script loads. */
const ENHANCED: Record<string, string[]> = {
  '/pricing': ['src/islands/pricing/hours.ts'],
  '/contact_sales': ['src/islands/contact/count.ts'],
  '/help': ['src/islands/contact/count.ts'],
  '/no-such-page': ['src/islands/not-found/back.ts'],
}

/** Every size with a budget. None depends on the machine. */
export async function byteRows(url: string, dashboardHtml: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const path of [...PUBLIC_PAGES, '/status']) {
    const html = await (await fetch(url + path)).text()
    const { styles, scripts } = linkedFiles(html)
    rows.push(atMost(`${path} HTML + CSS`, gzKb(html, ...styles.map(clientFile)), 14.8, 'kB'))
    // On a slow phone, each file delays the first paint, however small it is.
    rows.push(atMost(`${path} files of script`, scripts.length, 7, ''))
    if (!WITH_ISLAND.has(path)) {
      const parts = scriptsOf('src/islands/every-page.ts', ...(ENHANCED[path] ?? [])).map((file) => `/${file}`)
      rows.push(atMost(`${path} all script`, gzKb(...[...new Set([...scripts, ...parts])].map(clientFile)), 3, 'kB', 2))
    }
  }
  const loader = new Set(scriptsOf('src/public.ts'))
  const hero = scriptsOf('src/islands/hero/hero.ts').filter((file) => !loader.has(file))
  rows.push(atMost('hero, once idle', gzKb(...hero.map(clientFile)), 2.5, 'kB', 2))

  const { styles, scripts } = linkedFiles(dashboardHtml)
  const island = scriptsOf('src/client.tsx', 'src/islands/Dashboard.tsx').map((file) => `/${file}`)
  const all = new Set([...scripts, ...island])
  rows.push(atMost('/dashboard files of script', all.size, 8, ''))
  rows.push(atMost('/dashboard all script', gzKb(...[...all].map(clientFile)), 86.1, 'kB'))
  rows.push(atMost('/dashboard CSS (app.css)', gzKb(...styles.map(clientFile)), 6.6, 'kB', 2))
  const named = [...dashboardHtml.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, address]) => address)
  const unnamed = island.filter((file) => !named.includes(file))
  rows.push(atMost('/dashboard scripts not preloaded', unnamed.length, 0, ''))
  // Has the EC2 and Stripe SDKs whole: leaving out members that we don't read saved 31 kB and hid new ones from readers.
  // Nobody waits for it: isolates load a part when it's first needed. It only warns of a library that came in whole, long
  // before Cloudflare's 10 MB. What a person waits for is the next line, and no SDK is in it.
  rows.push(atMost('Worker', gzKb(...workerFiles()), 609, 'kB'))
  rows.push(atMost('Worker, evaluated at startup', gzKb(...startUpFiles()), 231.5, 'kB'))
  return rows
}

/** What the browser loads with a page: its scripts and everything they import. */
function linkedFiles(html: string): { styles: string[]; scripts: string[] } {
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, address = '']) => address)
  const styles = all(/<link rel="stylesheet" href="([^"]+)"/g)
  const entries = all(/<script [^>]*src="([^"]+)"/g)
  const preloads = all(/<link rel="modulepreload" href="([^"]+)"/g)
  return { styles, scripts: [...new Set([...entries.flatMap(withImports), ...preloads])] }
}

function withImports(address: string): string[] {
  const found = new Set([address])
  for (const file of found)
    for (const [, imported = ''] of clientFile(file)
      .toString()
      .matchAll(/(?:from|import)\s*"(\.[^"]+)"/g))
      found.add(new URL(imported, `http://site${file}`).pathname)
  return [...found]
}
