import type { Env } from '../settings/env.ts'

/**
 * Our files whose name a machine behind a door may also have. They pass the Worker first, so that only the site's hosts
 * serve them. wrangler.toml has the same list.
 */
export const PUBLIC_FILES = ['/*.png', '/favicon.svg', '/manifest.*', '/cli/*', '/film/*', '/texts/*']

const PATTERN = new RegExp(
  `^(${PUBLIC_FILES.map((file) => file.replaceAll('.', '\\.').replace('*', '.*')).join('|')})$`,
)

/** One of our files, with the headers of public/_headers; null if it isn't one. */
export async function findPublicFile(request: Request, { ASSETS }: Env): Promise<Response | null> {
  // Under Vite, which serves them itself, nothing is bound.
  if (!ASSETS || !PATTERN.test(new URL(request.url).pathname)) return null
  const file = (await ASSETS.fetch(request as never)) as unknown as Response
  return file.status === 404 ? null : file
}
