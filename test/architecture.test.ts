import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * The rooms, and which other rooms each may import from. A room is a folder or a file; a file belongs to the first
 * that matches. `runtime` is what every verb works with: the context it receives, the records it writes.
 */
const ROOMS: Record<string, { path: string | string[]; looksInto: string }> = {
  domain: { path: 'src/domain/', looksInto: '' },
  ui: { path: 'src/ui/', looksInto: 'domain' },
  islands: { path: 'src/islands/', looksInto: 'domain ui' },
  pages: { path: 'src/pages/', looksInto: 'domain ui islands' },
  browser: { path: ['src/client.tsx', 'src/public.ts', 'src/copy.ts', 'src/docs.ts'], looksInto: 'islands' },
  db: { path: 'db/', looksInto: 'domain' },

  app: {
    path: ['src/server/index.ts', 'src/server/app.ts', 'src/server/cron.ts'],
    looksInto: 'runtime settings limits mail events billing files fleet accounts operations objects http routes door',
  },
  door: {
    path: 'src/server/door/',
    looksInto: 'domain pages db ports runtime crypto settings limits fleet accounts objects http',
  },
  routes: {
    path: 'src/server/routes/',
    looksInto: 'domain ui pages ports runtime crypto settings mail billing files fleet accounts operations http door',
  },
  http: { path: 'src/server/http/', looksInto: 'domain ui pages db runtime crypto settings limits accounts' },
  objects: {
    path: ['src/server/channel/', 'src/server/runtime/create-context.ts'],
    looksInto: 'domain db ports runtime settings mail events billing files fleet accounts',
  },
  operations: {
    path: 'src/server/operations/',
    looksInto: 'domain db ports runtime crypto mail billing fleet accounts',
  },
  accounts: {
    path: 'src/server/accounts/',
    looksInto: 'domain db ports runtime crypto settings limits mail events billing fleet',
  },
  fleet: {
    path: 'src/server/fleet/',
    looksInto: 'domain db ports runtime crypto settings limits mail events billing files',
  },
  files: { path: 'src/server/files/', looksInto: 'domain db ports runtime crypto settings limits mail billing' },
  billing: { path: 'src/server/billing/', looksInto: 'domain db ports runtime crypto settings limits mail events' },
  events: { path: 'src/server/events/', looksInto: 'domain db ports runtime crypto mail' },
  mail: { path: 'src/server/mail/', looksInto: 'domain db ports runtime crypto settings limits' },
  limits: { path: 'src/server/limits/', looksInto: 'domain ports runtime settings' },
  runtime: { path: 'src/server/runtime/', looksInto: 'domain db ports crypto settings' },
  crypto: { path: 'src/server/crypto/', looksInto: 'domain' },
  settings: { path: 'src/server/settings/', looksInto: 'domain ports' },
  ports: { path: 'src/server/ports/', looksInto: 'domain' },
}

function roomOf(file: string): string | undefined {
  const isIn = ({ path }: (typeof ROOMS)[string]) => [path].flat().some((start) => file.startsWith(start))
  return Object.keys(ROOMS).find((name) => isIn(ROOMS[name] as (typeof ROOMS)[string]))
}

function roomsSeenFrom(room: string): string[] {
  return ROOMS[room]?.looksInto.match(/\w+/g) ?? []
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => `${folder}/${file}`)
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) => path as string)
  return found.map((path) => relative(ROOT, resolve(dirname(join(ROOT, file)), path)))
}

const arrows = [...sources('src'), ...sources('db')].flatMap((from) => importsOf(from).map((to) => ({ from, to })))

test('finds imports to check', () => {
  expect(arrows.length).toBeGreaterThan(300)
})

test('rooms import only from the rooms in the table, types included', () => {
  const wrong = arrows.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    return !room || !other || (room !== other && !roomsSeenFrom(room).includes(other))
  })
  expect(wrong).toEqual([])
})

test('the table allows no import that no file uses', () => {
  const idle = Object.keys(ROOMS).flatMap((room) =>
    roomsSeenFrom(room)
      .filter((other) => !arrows.some(({ from, to }) => roomOf(from) === room && roomOf(to) === other))
      .map((other) => `${room} -> ${other}`),
  )
  expect(idle).toEqual([])
})

/**
 * Billing tells the fleet what someone may start, what their meter reads, and what EC2's record takes off it. It can't
 * reach checkouts, invoices, or subscriptions.
 */
test('the fleet imports only the allowance, the usage, and the settled meter from billing', () => {
  const asked = arrows.filter(({ from, to }) => roomOf(from) === 'fleet' && roomOf(to) === 'billing')
  expect([...new Set(asked.map(({ to }) => to))].sort()).toEqual([
    'src/server/billing/allowance.ts',
    'src/server/billing/bills/settle-meter.ts',
    'src/server/billing/bills/usage.ts',
  ])
})

test('bills import nothing from plans', () => {
  const wrong = arrows.filter(
    ({ from, to }) => from.startsWith('src/server/billing/bills/') && to.startsWith('src/server/billing/plans/'),
  )
  expect(wrong).toEqual([])
})

test('ports name no vendor and no adapter', () => {
  const ports = sources('src/server/ports')
  expect(ports.length).toBeGreaterThan(3)
  const packages = ports.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name),
  )
  expect(packages.filter((name) => name !== 'node:crypto')).toEqual([])
})

/** Types can't enforce this: Node's come all together. */
test('the product uses only the Node modules that workerd has', () => {
  const modules = arrows
    .map(({ from }) => from)
    .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(/(?<=from ')node:[^']+/g) ?? [])
  expect([...new Set(modules)].sort()).toEqual(['node:crypto', 'node:net'])
})

test('no import cycles', () => {
  const importers = new Map<string, string[]>()
  for (const { from, to } of arrows) importers.set(from, [...(importers.get(from) ?? []), to])
  // A file whose remaining imports are all gone cannot be part of a cycle.
  for (let before = -1; before !== importers.size; ) {
    before = importers.size
    for (const [file, needs] of importers) if (!needs.some((need) => importers.has(need))) importers.delete(file)
  }
  expect([...importers.keys()]).toEqual([])
})

test('the product imports nothing from the local stack', () => {
  expect(arrows.filter(({ to }) => /^(dev|testing|test|bench)\//.test(to))).toEqual([])
})

test('the command line imports only the domain', () => {
  const found = sources('cli/src').flatMap((from) => importsOf(from).map((to) => ({ from, to })))
  expect(found.length).toBeGreaterThan(20)
  const wrong = found.filter(({ to }) => !/^(cli\/src\/|cli\/package\.json$|src\/domain\/)/.test(to))
  expect(wrong).toEqual([])
})

/** Tests may use the bench. The bench and the scripts may use the people and worlds in testing/, but never a test. */
test('testing/ imports nothing from the tests, the bench, or the scripts', () => {
  const found = ['dev', 'testing', 'bench', 'scripts'].flatMap((folder) =>
    sources(folder).flatMap((from) => importsOf(from).map((to) => ({ from, to }))),
  )
  expect(found.length).toBeGreaterThan(200)
  const isUp = ({ from, to }: { from: string; to: string }) =>
    to.startsWith('test/') || (/^(dev|testing)\//.test(from) && /^(bench|scripts)\//.test(to))
  expect(found.filter(isUp)).toEqual([])
})

const FOLDERS = ['src', 'db', 'cli/src', 'dev', 'testing', 'scripts', 'bench', 'test']
const written = FOLDERS.flatMap(sources).map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

/** What a name begins with, and what may come back. */
const RETURNS: Record<string, RegExp> = {
  get: /^(?!.*\b(null|undefined)>?$)/,
  list: /(\[\]|Page|List|View)>?$/,
  is: /^(boolean|SQL|Promise<boolean>|\w+ is .+)$/,
  can: /^(boolean|SQL|Promise<boolean>)$/,
}

test('functions return what their names say', () => {
  const DECLARED = /function ((get|list|is|can)[A-Z]\w*)(?:(?!\n\}|\) \{\n)[\s\S])*?\): (.+) \{\n/g
  const found = written.flatMap(({ file, text }) =>
    [...text.matchAll(DECLARED)].map(([, name, start = '', result = '']) => ({ file, name, start, result })),
  )
  expect(found.length).toBeGreaterThan(150)
  expect(found.filter(({ start, result }) => !RETURNS[start]?.test(result))).toEqual([])
})

test('no file is too long', () => {
  const mostOf = (file: string) => (file.startsWith('test/') ? 700 : 400)
  const long = written.filter(({ file, text }) => text.split('\n').length > mostOf(file) + 1).map(({ file }) => file)
  // It is generated.
  expect(long.sort()).toEqual(['cli/src/api-types.ts'])
})

/**
 * An isolate's first `Intl` object loads ICU's data, which takes a third as long as the whole startup of the Worker.
 */
test('no module creates an Intl object on load', () => {
  const made = [...sources('src'), ...sources('db')].filter((file) =>
    /^(?:export )?const \w+ = new Intl\./m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(made).toEqual([])
})

/** Only the log names the request or job, and strips personal data. */
test('only the log writes to the console', () => {
  const writers = [...sources('src'), ...sources('db')].filter((file) =>
    /\bconsole\b\s*(\?\.|\.\w|\[)|[=(,]\s*console\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(writers).toEqual(['src/server/settings/log.ts'])
})
