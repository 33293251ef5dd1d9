import type { Env } from './env.ts'

/** The wall clock in ms since 1970. The local stack binds one that can be moved. */
export async function readClock(env: Env): Promise<() => number> {
  if (!env.CLOCK) return Date.now
  const offset = Number(await (await env.CLOCK.fetch('http://clock/offset')).text())
  return () => Date.now() + offset
}
