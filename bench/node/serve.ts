import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { app } from '../../src/server/app.ts'
import { MACHINES } from '../../testing/stack/machine-settings.ts'

/** The site's own code in Node, or a minimal static server with the same page, for comparison. */
const nothing = 'http://127.0.0.1:1'
const env = {
  SITE_ORIGINS: 'http://localhost',
  SECRET_KEY: 'a-secret-of-thirty-two-characters-or-more',
  PASSWORD_PEPPER: 'pepper',
  LIBSQL_URL: nothing,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'key',
  ...MACHINES,
  EC2_LAUNCH_TEMPLATE: 'template',
  EC2_ENDPOINT: nothing,
  STRIPE_SECRET_KEY: 'sk_test_x',
  STRIPE_WEBHOOK_SECRET: 'whsec_x',
  STRIPE_API_BASE: nothing,
  MAIL_FROM: 'hello@example.com',
  OPERATOR_EMAIL: 'operator@example.com',
}
const execution = { waitUntil() {}, passThroughOnException() {}, props: {} }
const page = Buffer.from(await (await app.request('/', {}, env, execution as never)).arrayBuffer())

const servers = {
  rendered: createServer(getRequestListener((request) => app.fetch(request, env as never, execution as never))),
  static: createServer((_, res) => {
    res.setHeader('Content-Type', 'text/html; charset=UTF-8')
    res.end(page)
  }),
}
const server = servers[process.argv[2] as keyof typeof servers]
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit(0))
