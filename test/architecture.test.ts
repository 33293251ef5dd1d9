import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** Where each room may look, itself aside. The first match counts. */
const ROOMS: [room: string, mayImport: string[]][] = [
  ['src/domain/', []],
  ['db/', ['src/domain/']],
  ['src/ui/', ['src/domain/']],
  ['src/islands/', ['src/domain/', 'src/ui/']],
  ['src/pages/', ['src/domain/', 'src/ui/', 'src/islands/']],
  ['src/client.tsx', ['src/islands/']],
  ['src/public.ts', ['src/islands/', 'src/client.tsx']],
  ['src/server/providers/', ['src/domain/', 'src/server/env.ts']],
  [
    'src/server/services/',
    [
      'src/domain/',
      'db/',
      'src/server/providers/',
      'src/server/mails/',
      'src/server/jobs/',
      'src/server/limits/',
      'src/server/credentials/',
      ...files('src/server'),
    ],
  ],
  ['src/server/', ['src/domain/', 'db/', 'src/ui/', 'src/pages/', 'src/islands/', 'src/server/']],
]

const NOT_FOR_SERVICES = [
  'src/server/app.ts',
  'src/server/index.ts',
  'src/server/http/error-response.ts',
  'src/server/http/render.tsx',
]

function files(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${folder}/${entry.name}`)
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

test('imports run one way', () => {
  const wrong = arrows.filter(({ from, to }) => {
    const [room, may] = ROOMS.find(([room]) => from.startsWith(room)) ?? []
    if (!room || !may) return true
    return !to.startsWith(room) && !may.some((place) => to.startsWith(place))
  })
  expect(wrong).toEqual([])
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

test('verbs know neither routes nor answers', () => {
  const verbs = arrows.filter(
    ({ from }) => from.startsWith('src/server/services/') || from.startsWith('src/server/jobs/'),
  )
  expect(verbs.filter(({ to }) => NOT_FOR_SERVICES.includes(to) || to.startsWith('src/server/routes/'))).toEqual([])
})

test('nothing of the local stack reaches the product', () => {
  expect(arrows.filter(({ to }) => to.startsWith('dev/') || to.startsWith('test/'))).toEqual([])
})

/** The first `Intl` object of an isolate reads ICU's data, which takes as long as a third of the Worker's whole start-up. */
test('no module makes an Intl object when it is loaded', () => {
  const made = [...sources('src'), ...sources('db')].filter((file) =>
    /^(?:export )?const \w+ = new Intl\./m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  expect(made).toEqual([])
})
