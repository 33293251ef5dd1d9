import { setTimeout as sleep } from 'node:timers/promises'
import type { RunParameters } from '../../src/domain/parameters.ts'
import { isLive } from '../../src/domain/server.ts'
import type { LinePlace, Server } from '../../src/domain/wire/fleet.ts'
import { call, listServers } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { liveLine, say, sayJson } from './terminal.ts'

const POLL_MS = 3_000

type LineOptions = SiteOptions & { json?: true }
type Wishes = {
  environment?: string
  vehicle?: string
  name?: string
  stop_after?: number
  max_gpus?: number
  parameters?: RunParameters
  secrets?: string[]
}

export const findPlace = async (site: Site): Promise<LinePlace | null> =>
  (await call(site, (client) => client.GET('/api/v1/line'))).line

/** Shows the place in line, or gives it up. */
export async function line(action: 'leave' | undefined, options: LineOptions): Promise<void> {
  const site = currentSite(options)
  if (action === 'leave') {
    const left = await call(site, (client) => client.DELETE('/api/v1/line'))
    return options.json ? sayJson({ line: null }) : say(left.message)
  }
  const place = await findPlace(site)
  if (options.json) return sayJson({ line: place })
  say(place ? placeText(place) : "You're not in line.")
}

/** @throws Failure if the place in line ends without a server, or the wait is interrupted */
export async function waitInLine(site: Site, wishes: Wishes, interrupts: AbortSignal): Promise<Server> {
  const shown = liveLine(process.stderr)
  let { line: place }: { line: LinePlace | null } = await call(site, (client) =>
    client.POST('/api/v1/line', { body: { ...wishes, start: true } }),
  )
  try {
    for (; place; place = await findPlace(site)) {
      shown.show(placeText(place), '')
      await sleep(POLL_MS, null, { signal: interrupts })
    }
  } catch (error) {
    if (!interrupts.aborted) throw error
    throw new Failure(EXIT.interrupted, 'You keep your place in line. Leave it with: proving-ground line leave')
  } finally {
    shown.clear()
  }
  const server = (await listServers(site)).find(isLive)
  if (!server) throw new Failure(EXIT.noCapacity, 'You left the line without a server. Your email says why.')
  return server
}

function placeText({ position, estimate_seconds: estimate, held_until }: LinePlace): string {
  if (held_until) return 'A server is held for you. Start it with: proving-ground start'
  if (position === 0) return "It's your turn."
  const minutes = estimate && Math.ceil(estimate.p90 / 60)
  const wait = minutes ? `nine in ten people waited ${minutes} min or less` : "we don't know yet how long it takes"
  return `You're number ${position} in line: ${wait}.`
}
