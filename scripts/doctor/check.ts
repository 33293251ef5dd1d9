/** What a check found, in one line: a fact if it passed, otherwise what is wrong and what to do. */
export type Finding = { state: 'ok' | 'fail' | 'skip'; check: string; says: string }

export const ok = (check: string, says: string): Finding => ({ state: 'ok', check, says })
export const fail = (check: string, says: string): Finding => ({ state: 'fail', check, says })
/** We can't check it yet; the sentence says when. */
export const skip = (check: string, says: string): Finding => ({ state: 'skip', check, says })

/** As set for the Worker: `[vars]` of wrangler.toml, and its secrets. */
export type Settings = Record<string, string | undefined>

/** A vendor's own words on one line. libSQL and fetch hide them in the innermost cause. */
export function words(error: unknown): string {
  let innermost = error
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause
  const { name = '', message = String(error) } = innermost as Error
  return `${name === 'Error' ? '' : `${name}: `}${message}`.replace(/\s+/g, ' ').slice(0, 300)
}
