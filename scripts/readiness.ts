import { words } from './failure.ts'

/** What a site's /readyz answers. `isOurs`: a Worker of ours answers at all. `why` is a sentence. */
export type Readiness = { ready: boolean; isOurs: boolean; version?: string; why?: string }

export async function askReady(origin: string): Promise<Readiness> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(10_000) })
    const said = (await response.json().catch(() => ({}))) as { version?: string; error?: string }
    const { version, error } = said
    if (version || error)
      return { ready: response.ok, isOurs: true, ...(version && { version }), ...(error && { why: error }) }
    return { ready: false, isOurs: false, why: `Something else answers there, with status ${response.status}.` }
  } catch (error) {
    return { ready: false, isOurs: false, why: `It doesn't answer (${words(error)}).` }
  }
}
