import { InvalidArgumentError } from 'commander'
import { isLive } from '../../src/domain/server.ts'
import { call, getSummary, listServers } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { say, sayJson, timeText } from './terminal.ts'

type EndOptions = SiteOptions & { json?: true }

const NEVER = 'never'

/** Adds this many seconds to the time the server stops. */
export async function extend(seconds: number, options: EndOptions): Promise<void> {
  const site = currentSite(options)
  const { id, ends_at } = await getLive(site)
  if (ends_at === null) throw new Failure(EXIT.refused, 'No end time is set. It runs until you stop it.')
  await move(site, id, new Date(Date.parse(ends_at) + seconds * 1000).toISOString(), options)
}

/** Sets the time the server stops, or removes it. */
export async function end(when: string, options: EndOptions): Promise<void> {
  const site = currentSite(options)
  const { id } = await getLive(site)
  await move(site, id, when === NEVER ? null : whenOf(when, new Date()), options)
}

/** @throws unless it is a time, or `never` */
export function whenText(text: string): string {
  if (text !== NEVER && whenOf(text, new Date()) === null)
    throw new InvalidArgumentError('Write it like 18:00, 2026-11-24T18:00, or never.')
  return text
}

/** The next time that this clock shows it, or that exact time. In this computer's zone, unless the text names another. */
export function whenOf(text: string, now: Date): string | null {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours && minutes) {
    const at = new Date(now)
    at.setHours(Number(hours), Number(minutes), 0, 0)
    if (at <= now) at.setDate(at.getDate() + 1)
    return at.toISOString()
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text)) return null
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

async function getLive(site: Site) {
  const live = (await listServers(site)).find(isLive)
  if (!live) throw new Failure(EXIT.refused, 'No server is running.')
  if (live.stopping) throw new Failure(EXIT.refused, 'Your server is already stopping.')
  return live
}

async function move(site: Site, id: string, ends_at: string | null, { json }: EndOptions): Promise<void> {
  const { server } = await call(site, (client) =>
    client.PUT('/api/v1/servers/{id}', { params: { path: { id } }, body: { ends_at } }),
  )
  if (json) return sayJson({ server })
  const isTrial = (await getSummary(site)).subscription?.sub_type === 'demo'
  const end = server.ends_at && timeText(server.ends_at)
  if (isTrial) say(`It stops ${end ? `at ${end}, or earlier ` : ''}when your free minutes are used up.`)
  else say(end ? `It stops at ${end}.` : 'It runs until you stop it.')
}
