import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * The rooms, each with the rooms it may look into, itself aside. A room is a folder or a file; the first that matches a file is its own.
 * `server` is what lies loose in src/server: settings, the log, the context that is passed to every verb.
 */
const ROOMS: Record<string, { path: string | string[]; looksInto: string[] }> = {
  domain: { path: 'src/domain/', looksInto: [] },
  ui: { path: 'src/ui/', looksInto: ['domain'] },
  islands: { path: 'src/islands/', looksInto: ['domain', 'ui'] },
  pages: { path: 'src/pages/', looksInto: ['domain', 'ui', 'islands'] },
  browser: { path: ['src/client.tsx', 'src/public.ts'], looksInto: ['islands'] },
  db: { path: 'db/', looksInto: ['domain'] },

  app: {
    path: ['src/server/index.ts', 'src/server/app.ts', 'src/server/cron.ts'],
    looksInto: ['server', 'limits', 'mail', 'billing', 'fleet', 'accounts', 'objects', 'http', 'routes'],
  },
  routes: {
    path: 'src/server/routes/',
    looksInto: ['domain', 'ui', 'pages', 'server', 'mail', 'billing', 'fleet', 'accounts', 'http'],
  },
  http: {
    path: 'src/server/http/',
    looksInto: ['domain', 'ui', 'pages', 'db', 'server', 'limits', 'billing', 'fleet', 'accounts'],
  },
  objects: {
    path: ['src/server/channel/', 'src/server/create-context.ts'],
    looksInto: ['domain', 'db', 'server', 'mail', 'billing', 'fleet', 'accounts'],
  },
  accounts: {
    path: 'src/server/accounts/',
    looksInto: ['domain', 'db', 'server', 'limits', 'mail', 'billing', 'fleet'],
  },
  fleet: { path: 'src/server/fleet/', looksInto: ['domain', 'db', 'server', 'mail', 'billing'] },
  billing: { path: 'src/server/billing/', looksInto: ['domain', 'db', 'server', 'limits', 'mail'] },
  mail: { path: 'src/server/mail/', looksInto: ['domain', 'db', 'server', 'limits'] },
  limits: { path: 'src/server/limits/', looksInto: ['domain', 'server'] },
  server: { path: 'src/server/', looksInto: ['domain', 'db'] },
}

function roomOf(file: string): string | undefined {
  const isIn = ({ path }: (typeof ROOMS)[string]) => [path].flat().some((start) => file.startsWith(start))
  return Object.keys(ROOMS).find((name) => isIn(ROOMS[name] as (typeof ROOMS)[string]))
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

test('there is something to look at', () => {
  expect(arrows.length).toBeGreaterThan(300)
})

test('imports run between rooms as the table says, for types too', () => {
  const wrong = arrows.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    return !room || !other || (room !== other && !ROOMS[room]?.looksInto.includes(other))
  })
  expect(wrong).toEqual([])
})

test('the table allows nothing that no file needs', () => {
  const idle = Object.entries(ROOMS).flatMap(([room, { looksInto }]) =>
    looksInto
      .filter((other) => !arrows.some(({ from, to }) => roomOf(from) === room && roomOf(to) === other))
      .map((other) => `${room} -> ${other}`),
  )
  expect(idle).toEqual([])
})

/** What somebody may start, and how far their meter stands: checkouts, invoices and subscriptions are none of its business. */
test('the fleet asks billing nothing else', () => {
  const asked = arrows.filter(({ from, to }) => roomOf(from) === 'fleet' && roomOf(to) === 'billing')
  expect([...new Set(asked.map(({ to }) => to))].sort()).toEqual([
    'src/server/billing/allowance.ts',
    'src/server/billing/bills/usage.ts',
  ])
})

test('bills know no plans', () => {
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

/** Types cannot say this: Node's own types come as one. */
test('the product takes no more of Node than workerd has', () => {
  const modules = arrows
    .map(({ from }) => from)
    .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(/(?<=from ')node:[^']+/g) ?? [])
  expect([...new Set(modules)].sort()).toEqual(['node:crypto', 'node:net'])
})

test('no two files need each other', () => {
  const importers = new Map<string, string[]>()
  for (const { from, to } of arrows) importers.set(from, [...(importers.get(from) ?? []), to])
  // Whoever imports nothing that is left cannot be part of a circle.
  for (let before = -1; before !== importers.size; ) {
    before = importers.size
    for (const [file, needs] of importers) if (!needs.some((need) => importers.has(need))) importers.delete(file)
  }
  expect([...importers.keys()]).toEqual([])
})

test('nothing of the local stack reaches the product', () => {
  expect(arrows.filter(({ to }) => /^(dev|testing|test|bench)\//.test(to))).toEqual([])
})

/** Tests may measure with the bench; the bench and the scripts know the people and worlds of testing/, never a test. */
test('testing/ serves the tests, the bench, and the scripts, and knows none of them', () => {
  const found = ['dev', 'testing', 'bench', 'scripts'].flatMap((folder) =>
    sources(folder).flatMap((from) => importsOf(from).map((to) => ({ from, to }))),
  )
  expect(found.length).toBeGreaterThan(200)
  const isUp = ({ from, to }: { from: string; to: string }) =>
    to.startsWith('test/') || (/^(dev|testing)\//.test(from) && /^(bench|scripts)\//.test(to))
  expect(found.filter(isUp)).toEqual([])
})

/** The first `Intl` object of an isolate reads ICU's data, which takes as long as a third of the Worker's whole start-up. */
test('no module makes an Intl object when it is loaded', () => {
  const made = [...sources('src'), ...sources('db')].filter((file) =>
    /^(?:export )?const \w+ = new Intl\./m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(made).toEqual([])
})

/** One log: what went past it would name no request and no job, and nothing personal would be taken out of it. */
test('nothing writes to the console but the log', () => {
  const writers = [...sources('src'), ...sources('db')].filter((file) =>
    /\bconsole\b\s*(\?\.|\.\w|\[)|[=(,]\s*console\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(writers).toEqual(['src/server/log.ts'])
})
