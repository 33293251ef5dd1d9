import { call } from './api.ts'
import { currentSite, type SiteOptions } from './site.ts'
import { duration } from './start.ts'
import { say, sayJson } from './terminal.ts'

/** In minutes; null: never. @throws unless it is a time, or `never` */
export function idleTime(text: string): number | null {
  return text === 'never' ? null : duration(text) / 60
}

/** Shows after how long servers stop when nobody uses them, or sets it. */
export async function idle(
  minutes: number | null | undefined,
  { json, ...options }: SiteOptions & { json?: true },
): Promise<void> {
  const chosen = await call(currentSite(options), (client) =>
    minutes === undefined ? client.GET('/api/v1/idle') : client.POST('/api/v1/idle', { body: { minutes } }),
  )
  if (json) return sayJson({ minutes: chosen.minutes })
  say(
    chosen.minutes === null
      ? 'Idle stop is off.'
      : `Your servers stop after ${chosen.minutes} idle minutes, if the simulator reports that it's idle.`,
  )
}
