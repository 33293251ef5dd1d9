import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_PATH } from '../../src/domain/idle.ts'
import { machineText } from '../../src/domain/machine.ts'
import { formatUptime } from '../../src/domain/server.ts'
import { worldText } from '../../src/domain/worlds.ts'
import type { DataFolder } from './data-folder.ts'
import { answerData } from './data-page.ts'
import type { Instance } from './instance.ts'
import { escapeXml } from './xml.ts'

export type PageContext = {
  /** Ms since 1970, by the stack's clock. */
  now: () => number
  /** The origin of the site that the page links to; null without one. */
  siteUrl: string | null
  dataOf: (instanceId: string) => DataFolder | undefined
}

type Answer = { type: string; text: string }

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

const page = read('./simulator/page.html')
const css = 'text/css; charset=utf-8'
const files: Record<string, Answer> = {
  '/sim.css': { type: css, text: read('./simulator/sim.css') },
  // The site's own look.
  '/tokens.css': { type: css, text: read('../../src/styles/tokens.css') },
  '/components.css': { type: css, text: read('../../src/styles/components.css') },
  '/favicon.svg': { type: 'image/svg+xml', text: read('../../public/favicon.svg') },
}
const scripts = new Set(readdirSync(new URL('./simulator/', import.meta.url)).filter((name) => name.endsWith('.ts')))

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

/** Strips the types, which browsers can't read. Cached, because the scripts are the same for every instance. */
const stripped = new Map<string, Promise<string>>()
function stripTypes(name: string): Promise<string> {
  const known = stripped.get(name)
  if (known) return known
  // Only a person in a browser needs Vite here; most stacks in tests never load it.
  const code = import('vite')
    .then(({ transformWithOxc }) => transformWithOxc(read(`./simulator/${name}`), name, { sourcemap: false }))
    .then((made) => made.code)
  stripped.set(name, code)
  return code
}

/** When someone last requested something from each instance's page, or steered. */
const usedAt = new Map<string, number>()

/** Pretends that nobody has used an instance for this long. */
export function leaveIdle(instanceId: string, seconds: number, now: number): void {
  usedAt.set(instanceId, now - seconds * 1000)
}

function idleSeconds({ id, runsFrom }: Instance, now: number): number {
  return Math.max(0, Math.floor((now - (usedAt.get(id) ?? runsFrom)) / 1000))
}

/** How long the machine has run. It knows no plan, so what that costs is on the dashboard. */
function runOf(instance: Instance, now: number): { up: string } {
  return { up: formatUptime(Math.max(0, Math.floor((now - instance.runsFrom) / 1000))) }
}

function pageOf(instance: Instance, { now, siteUrl }: PageContext): string {
  const dashboard = siteUrl ? `${siteUrl}/dashboard` : ''
  const world = worldText(instance.tags)
  const values: Record<string, string> = {
    name: instance.tags.session || instance.tags.Name || instance.id,
    id: instance.id,
    machine: machineText(instance.instanceType, instance.availabilityZone),
    // What the container gets as ENVIRONMENT and VEHICLE.
    environment: instance.tags.environment ?? '',
    vehicle: instance.tags.vehicle ?? '',
    world: world ? `${world} · ` : '',
    dashboard,
    ...runOf(instance, now()),
  }
  const links = siteUrl
    ? `<nav aria-label="Server"><a class="btn" href="${escapeXml(dashboard)}">Dashboard</a> <a class="btn btn-danger" href="${escapeXml(siteUrl)}/stop_server">Stop</a></nav>`
    : ''
  return page
    .replace('{{links}}', () => links)
    .replace(/\{\{(\w+)\}\}/g, (_, key: string) => escapeXml(values[key] ?? ''))
}

async function findAnswer(path: string, instance: Instance, context: PageContext): Promise<Answer | undefined> {
  if (path === '/') return { type: 'text/html; charset=utf-8', text: pageOf(instance, context) }
  if (path === STATUS_PATH)
    return { type: 'application/json', text: JSON.stringify({ idle_seconds: idleSeconds(instance, context.now()) }) }
  if (path === '/run') return { type: 'application/json', text: JSON.stringify(runOf(instance, context.now())) }
  const name = path.slice(1)
  if (scripts.has(name)) return { type: 'text/javascript; charset=utf-8', text: await stripTypes(name) }
  return files[path]
}

/** Serves a running instance's page: a simulator with a UAV and a UGV, three worlds, and a course in each. */
export async function answerPage(
  instance: Instance,
  context: PageContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', query] = (request.url ?? '/').split('?')
  if (path.startsWith('/data/')) {
    usedAt.set(instance.id, context.now())
    const file = decodeURIComponent(path.slice('/data/'.length))
    return answerData(context.dataOf(instance.id), file, request, response, headers)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...headers, allow: 'GET, HEAD' }).end()
    return
  }
  // An open page requests its time on its own, and says whether anyone steered. The site requests the status.
  const isUse = request.method === 'GET' && path !== STATUS_PATH && (path !== '/run' || query === 'used')
  if (isUse) usedAt.set(instance.id, context.now())
  const found = await findAnswer(path, instance, context)
  if (!found) response.writeHead(404, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end('Not found\n')
  else response.writeHead(200, { ...headers, 'content-type': found.type }).end(found.text)
}
