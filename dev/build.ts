import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type EnvironmentOptions, type Plugin, type Rolldown, runnerImport, Visitor } from 'vite'

/** A file of the built Worker, in workerd's format. */
export type WorkerModule = { type: 'ESModule'; path: string; contents: string }

/** What the browser loads: one entry for pages with islands, one for public pages, one for what you copy, one for the documentation, the style sheets. */
export const clientOptions: Rolldown.RolldownOptions = {
  input: [
    'src/client.tsx',
    'src/public.ts',
    'src/copy.ts',
    'src/docs.ts',
    ...['admin', 'app', 'billing', 'docs', 'files', 'line', 'public', 'runs', 'settings', 'status'].map(
      (name) => `src/styles/${name}.css`,
    ),
  ],
  // Action Cable's log, which we never turn on.
  treeshake: { manualPureFunctions: ['logger'] },
  // React imports a scheduler export that exists only in its own tests. The type checker covers our imports.
  checks: { importIsUndefined: false },
  output: {
    codeSplitting: {
      groups: [
        // Changes rarely, so returning browsers keep it cached across releases.
        { name: 'react', test: /node_modules.(react|react-dom|scheduler)./, priority: 2 },
        // The one public form also uses it, without React.
        { name: 'edits', test: /src.islands.edits/, priority: 3 },
        // The islands' shared code is small, and smallest in one chunk. The dashboard has no forms.
        {
          name: 'shared',
          test: /src.(ui.(?!Fi|Fl)|islands.(Bound|request|session|local|announce|use[CPS])|domain.(instant|page-t|server))/,
          minShareCount: 2,
          priority: 1,
        },
        // What the dashboard shares with the console, and the slider on /pricing.
        { name: 'money', test: /src.domain.(money.(?!trial)|worlds)/, minShareCount: 2, priority: 2 },
        // What the dashboard shares with the bell of every other page.
        {
          name: 'live',
          test: /actioncable|src.(islands.jobs-channel|domain.(cable|money.trial))/,
          minShareCount: 2,
          priority: 2,
        },
        // What it shares with its own later parts and the line.
        {
          name: 'parts',
          test: /src.islands.(use[JT]|dashboard.ByForm)|src.domain.parameters/,
          minShareCount: 2,
          priority: 1,
        },
        { name: 'forms', test: /src.(ui|islands.(use|account)|domain.(form|person|user))/, minShareCount: 2 },
      ],
    },
  },
}

/** Under browser conditions, AWS's XML parser needs DOMParser, which workerd lacks. */
export const awsXmlInWorkerd: Plugin = {
  name: 'aws-xml-in-workerd',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id === './xml-parser' && importer?.includes('@aws-sdk/xml-builder')
      ? importer.replace(/[^/]*$/, 'xml-parser.js')
      : null,
}

/** `react-dom/server` includes its streaming renderer, which is as large as the one we use. */
export const stringRendererOnly: Plugin = {
  name: 'string-renderer-only',
  enforce: 'pre',
  resolveId: (id) =>
    id === 'react-dom/server'
      ? resolve(import.meta.dirname, '../node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js')
      : null,
}

/** libSQL's client includes a library for what the platform can do itself. Each isolate would evaluate it at startup. */
export const nativeBase64: Plugin = {
  name: 'native-base64',
  apply: 'build',
  load: (id) =>
    id.endsWith('/js-base64/base64.mjs')
      ? `export const Base64 = {
          fromUint8Array: (bytes) => Buffer.from(bytes).toString('base64'),
          toUint8Array: (text) => new Uint8Array(Buffer.from(text, 'base64')),
        }`
      : null,
}

/** libSQL's client speaks version 2 of its protocol, which is JSON. Version 3 would need these. */
export const noProtobuf: Plugin = {
  name: 'no-protobuf',
  apply: 'build',
  transform(code, id) {
    if (!/hrana-client\/lib-esm\/(http\/protobuf_(en|de)code|encoding\/protobuf\/(en|de)code)\.js$/.test(id))
      return null
    return [...code.matchAll(/export (?:function|const|class) (\w+)/g)]
      .map(([, name]) => `export const ${name} = null`)
      .join('\n')
  },
}

/** The AWS SDK has a reader of event streams for its other services. EC2 sends none. */
export const noEventStreams: Plugin = {
  name: 'no-event-streams',
  apply: 'build',
  load: (id) =>
    /@smithy\/core\/.*\/event-streams\/index\.browser\.js$/.test(id)
      ? 'export const EventStreamSerde = null, eventStreamSerdeProvider = null'
      : null,
}

/**
 * The passkey library also checks who made a device, by its certificates. We never ask (see `withoutAttestation`), and the
 * parts that read them are nine tenths of it.
 */
export const noCertificates: Plugin = {
  name: 'no-certificates',
  apply: 'build',
  transform(code, id) {
    const path = /@simplewebauthn\/server\/esm\/(.*)\.js$/.exec(id)?.[1] ?? ''
    if (
      !/^(registration\/verifications\/|metadata\/|helpers\/(validate|isCert|getCert|convertX509|mapX509))/.test(path)
    )
      return null
    return [...code.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)]
      .map(([, name]) => `export const ${name} = null`)
      .join('\n')
  },
}

/**
 * Vite wraps each dynamic import in a preloader, which would add a script to every public page. Our pages preload
 * what they need. Vite can't turn this off, but it leaves a library's imports alone. Set this late, `lib` changes
 * nothing else.
 */
export const plainDynamicImports: Plugin = {
  name: 'plain-dynamic-imports',
  apply: 'build',
  configResolved: (config) => void Object.assign(config.build, { lib: {} }),
}

/** The Worker needs only the newest of the migrations, and only addresses and imports of the browser's files. */
export const onlyReadJson: Plugin = {
  name: 'only-read-json',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('/db/migrations/meta/_journal.json')) {
      const { entries } = JSON.parse(code) as { entries: { when: number }[] }
      return JSON.stringify({ entries: [{ when: Math.max(...entries.map(({ when }) => when)) }] })
    }
    if (!id.endsWith('/dist/client/manifest.json')) return null
    const files = Object.entries(JSON.parse(code) as Record<string, { file: string; imports?: string[] }>)
    return JSON.stringify(Object.fromEntries(files.map(([key, { file, imports }]) => [key, { file, imports }])))
  },
}

/** What routes say only to programs' authors: see RouteWords in src/server/http/route-table.ts. */
const WORDS = new Set(['summary', 'description', 'answers', 'later', 'refuses', 'when', 'query', 'repeatable'])

export async function importAtBuild(): Promise<typeof import('./at-build.ts')> {
  return (
    await runnerImport<typeof import('./at-build.ts')>('/dev/at-build.ts', { configFile: false, logLevel: 'error' })
  ).module
}

/** Leaves those out of the Worker, whose start they would slow. */
export const noWords: Plugin = {
  name: 'no-words',
  apply: 'build',
  enforce: 'post',
  transform: {
    filter: { id: /src.server.(routes|door)/, code: /\broute\(/ },
    handler(code) {
      const cuts: [from: number, to: number][] = []
      new Visitor({
        CallExpression({ callee, arguments: [, facts] }) {
          if (callee.type !== 'Identifier' || callee.name !== 'route' || facts?.type !== 'ObjectExpression') return
          for (const [i, one] of facts.properties.entries())
            if (one.type === 'Property' && one.key.type === 'Identifier' && WORDS.has(one.key.name))
              cuts.push([one.start, facts.properties[i + 1]?.start ?? one.end])
        },
      }).visit(this.parse(code))
      return cuts.reverse().reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), code)
    },
  },
}

const ENTRY = resolve('src/server/index.ts')

/** Code that requests through a door need, and others don't. */
const DOOR = /src.server.door.(?!routes|door-keeper|screens)|src.domain.forward/

/** The steps of starts and stops, which objects run. */
const JOBS = /src.server.fleet.jobs.(server-|await-answer|launches|own-failures|start-failure)/

type Modules = Rolldown.ChunkingContext

/** What an isolate evaluates when it starts: everything that the entry reaches without `import()`. */
const atStart = new WeakMap<Modules, Set<string>>()

function isAtStart(id: string, modules: Modules): boolean {
  const known = atStart.get(modules) ?? new Set([ENTRY])
  if (!atStart.has(modules)) {
    for (const each of known) for (const next of modules.getModuleInfo(each)?.importedIds ?? []) known.add(next)
    atStart.set(modules, known)
  }
  return known.has(id)
}

const later = (name: string) => (id: string, modules: Modules) => (isAtStart(id, modules) ? null : name)

export const workerBuild: EnvironmentOptions = {
  resolve: { noExternal: true, conditions: ['workerd', 'worker', 'module', 'browser'] },
  build: {
    ssr: true,
    target: 'esnext',
    minify: true,
    outDir: 'dist/worker',
    emptyOutDir: true,
    copyPublicDir: false,
    rolldownOptions: {
      input: ENTRY,
      // A Worker exports only its handlers and objects, so code its chunks share becomes another chunk.
      preserveEntrySignatures: 'strict',
      // Effects never run on the server, so we leave out what only they use, above all Action Cable's client.
      treeshake: {
        manualPureFunctions: ['useEffect'],
        moduleSideEffects: [{ test: /@rails.actioncable|src.domain/, sideEffects: false }],
      },
      external: [/^cloudflare:/, /^node:/],
      output: {
        // One chunk for shared code: many small ones compress badly.
        codeSplitting: {
          groups: [
            {
              name: (id, modules) => (isAtStart(id, modules) ? 'common' : null),
              minShareCount: 2,
              priority: 2,
            },
            { name: later('door'), test: DOOR, priority: 1 },
            { name: later('jobs'), test: JOBS, priority: 1 },
            {
              name: later('stripe'),
              test: /node_modules.stripe.|src.server.billing.stripe/,
              priority: 1,
            },
            {
              name: later('ec2'),
              test: /node_modules.@(aws|smithy)|src.server.fleet.ec2/,
              priority: 1,
            },
            // All our other code that loads when needed, in one chunk because small ones compress badly.
            { name: later('rare'), test: /[\\/](src|db|cli)[\\/]/ },
          ],
        },
        entryFileNames: 'index.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
      },
    },
  },
}

/**
 * Adds everything else that the site serves to the browser's files: its texts, the agent of our machines, and the
 * downloads, which are the command line, the package with it and the typed client, and the GitHub Action.
 */
export async function writeFiles(): Promise<void> {
  const { renderAllTexts } = await importAtBuild()
  mkdirSync('dist/client/texts', { recursive: true })
  for (const [name, html] of renderAllTexts()) writeFileSync(`dist/client/texts/${name}.txt`, html)
  mkdirSync('dist/client/machines', { recursive: true })
  copyFileSync('infra/image/agent.py', 'dist/client/machines/agent.py')
  const downloads = resolve('dist/client/cli')
  mkdirSync(downloads, { recursive: true })
  copyFileSync('cli/dist/proving-ground.js', `${downloads}/proving-ground.mjs`)
  cpSync('cli/action', `${downloads}/action`, { recursive: true })
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'cli/tsconfig.client.json'])
  const packed = execFileSync('npm', ['pack', './cli', '--json', '--pack-destination', downloads], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  renameSync(`${downloads}/${filename}`, `${downloads}/proving-ground.tgz`)
}

/** The command line: one file that needs only Node. */
export const cliBuild: EnvironmentOptions = {
  consumer: 'server',
  resolve: { noExternal: true, conditions: ['node', 'module', 'import', 'default'] },
  build: {
    ssr: true,
    target: 'node20',
    minify: true,
    outDir: 'cli/dist',
    emptyOutDir: true,
    copyPublicDir: false,
    rolldownOptions: {
      input: 'cli/src/main.ts',
      // ws tries these two first, and runs without them.
      external: [/^node:/, 'bufferutil', 'utf-8-validate'],
      // Leaves out what we don't use of ws, as its server.
      treeshake: { moduleSideEffects: [{ test: /node_modules.ws./, sideEffects: false }] },
      output: { codeSplitting: false, entryFileNames: 'proving-ground.js', banner: '#!/usr/bin/env node' },
    },
  },
}
