import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Instance } from './instance.ts'
import { escapeXml } from './xml.ts'

const file = (name: string) => readFileSync(new URL(`./simulator/${name}`, import.meta.url), 'utf8')

const page = file('page.html')
const script = (name: string) => ({ type: 'text/javascript; charset=utf-8', text: file(name) })
const files: Record<string, { type: string; text: string }> = {
  '/sim.js': script('sim.js'),
  '/controls.js': script('controls.js'),
  '/scene.js': script('scene.js'),
  '/vehicle.js': script('vehicle.js'),
  '/sim.css': { type: 'text/css; charset=utf-8', text: file('sim.css') },
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'",
  'x-content-type-options': 'nosniff',
}

function pageOf(instance: Instance): string {
  const values: Record<string, string> = {
    name: instance.tags.Name || instance.id,
    id: instance.id,
    type: instance.instanceType,
    zone: instance.availabilityZone,
  }
  return page.replace(/\{\{(\w+)\}\}/g, (_, key: string) => escapeXml(values[key] ?? ''))
}

/** Serves a running instance's page: a simulated vehicle you can steer. */
export function answerPage(instance: Instance, request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const found = path === '/' ? { type: 'text/html; charset=utf-8', text: pageOf(instance) } : files[path]
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...headers, allow: 'GET, HEAD' }).end()
  } else if (!found) {
    response.writeHead(404, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end('Not found\n')
  } else {
    response.writeHead(200, { ...headers, 'content-type': found.type }).end(found.text)
  }
}
