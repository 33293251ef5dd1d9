import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { DIST } from '../../../dev/stack.ts'
import { readWranglerConfig } from '../../../dev/wrangler-config.ts'
import { PUBLIC_FILES } from '../../../src/server/http/public-files.ts'

const files = readdirSync(join(DIST, 'client'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(join(DIST, 'client').length))

test('every file of ours passes the Worker first, unless its name holds a hash', () => {
  expect(readWranglerConfig().workerFirst).toEqual(PUBLIC_FILES)
  const covers = (file: string) =>
    PUBLIC_FILES.some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replace('*', '.*')}$`).test(file))
  const forCloudflare = ['/_headers', '/.assetsignore']
  const first = files.filter((file) => !covers(file) && !forCloudflare.includes(file))
  expect(first.length).toBeGreaterThan(20)
  const hashed = /^\/assets\/[\w-]+-[\w-]{8}\.\w+$/
  expect(first.filter((file) => !hashed.test(file))).toEqual([])
})

test('the site serves them with the headers that Cloudflare would add, and 304 to a browser that has one', async () => {
  const icon = await fetch(`${inject('url')}/favicon.svg`)
  expect(Object.fromEntries(icon.headers)).toMatchObject({
    'content-type': 'image/svg+xml',
    'cache-control': 'public, max-age=0, must-revalidate',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'x-content-type-options': 'nosniff',
  })
  const again = { headers: { 'if-none-match': icon.headers.get('etag') ?? '' } }
  expect((await fetch(`${inject('url')}/favicon.svg`, again)).status).toBe(304)
  expect((await fetch(`${inject('url')}/film/no-such.webm`)).headers.get('content-type')).toMatch('text/html')
})
