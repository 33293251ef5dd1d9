import type { Env } from '../settings/env.ts'
import { parseOrigins } from '../settings/settings.ts'

/**
 * Our files whose names may also exist on a machine behind a door. They pass through the Worker first, so that only the
 * site's hosts serve them. wrangler.toml has the same list.
 */
export const PUBLIC_FILES = [
  '/*.png',
  '/favicon.svg',
  '/manifest.*',
  '/cli/*',
  '/film/*',
  '/machines/agent.py',
  '/texts/*',
]

const PATTERN = new RegExp(
  `^(${PUBLIC_FILES.map((file) => file.replaceAll('.', '\\.').replace('*', '.*')).join('|')})$`,
)

/** One of our files, with the headers of public/_headers; null if it isn't one. */
export async function findPublicFile(request: Request, { ASSETS, SITE_ORIGINS }: Env): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  if (!PATTERN.test(pathname)) return null
  const file = (await ASSETS.fetch(request as never)) as unknown as Response
  if (file.status === 404) return null
  const [, kind] = /^\/cli\/proving-ground\.(mjs|tgz)$/.exec(pathname) ?? []
  if (!kind || file.status !== 200 || request.method !== 'GET') return file
  const { withOwnSite } = await import('./own-site.ts')
  return withOwnSite(file, kind === 'tgz', parseOrigins(SITE_ORIGINS)[0] ?? '')
}
