import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EnvironmentOptions, Plugin, Rolldown } from 'vite'

const TEXTS_FOLDER = 'dist/texts'

/** A file of the built Worker, in workerd's format. */
export type WorkerModule = { type: 'ESModule'; path: string; contents: string }

/** What the browser loads: one entry for pages with islands, one for public pages, the style sheets. */
export const clientOptions: Rolldown.RolldownOptions = {
  input: [
    'src/client.tsx',
    'src/public.ts',
    ...['admin', 'app', 'billing', 'docs', 'public', 'status'].map((name) => `src/styles/${name}.css`),
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
        // The one public form uses it as well, without React.
        { name: 'edits', test: /src.islands.edits/, priority: 3 },
        // The islands' shared code is small, and smallest in one chunk. The dashboard has no forms.
        {
          name: 'shared',
          test: /src.(ui.(?!Fi|Fl)|islands.(request|session|local|use[CPS])|domain.(instant|server|user-s))/,
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

/** AWS's protocols load these once a service streams events. EC2 never does. */
export const noEventStreams: Plugin = {
  name: 'no-event-streams',
  apply: 'build',
  load: (id) => (/@smithy\/core\/dist-es\/submodules\/event-streams\/index/.test(id) ? 'export {}' : null),
}

/** AWS's own SHA-256 is for browsers without WebCrypto and requests over 8 MB. */
export const webCryptoAlone: Plugin = {
  name: 'web-crypto-alone',
  apply: 'build',
  load: (id) => (id.endsWith('/checksum/sha256/Sha256Js.js') ? 'export class Sha256Js {}' : null),
}

/** libSQL's client includes a library for what the platform can do itself. */
export const nativeBase64: Plugin = {
  name: 'native-base64',
  apply: 'build',
  load: (id) =>
    id.endsWith('/js-base64/base64.mjs')
      ? `export const Base64 = {
          fromUint8Array: (bytes) => btoa(String.fromCharCode(...bytes)),
          toUint8Array: (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)),
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

/** The resources that src/server/billing/stripe.ts calls. An `index` holds its folder's. */
const STRIPE_RESOURCES =
  /^((BillingPortal|Checkout)\/(index|Sessions)|CreditNotes|Customers|InvoiceItems|Invoices|Prices|Subscriptions|SubscriptionSchedules)$/

/** Its events of another kind, and its decimal numbers. */
const UNUSED_OF_STRIPE = {
  'StripeEventNotificationHandler.js': 'export class StripeEventNotificationHandler {}',
  'Decimal.js': 'export const Decimal = {}',
}

/** Stripe's SDK has a class for each resource. The deployed Worker gets empty ones for those it never calls. */
export const usedStripeResources: Plugin = {
  name: 'used-stripe-resources',
  apply: 'build',
  transform(code, id) {
    const unused = Object.entries(UNUSED_OF_STRIPE).find(([file]) => id.endsWith(`/stripe/esm/${file}`))
    if (unused) return unused[1]
    const [, resource] = /stripe\/esm\/resources\/([\w/]+)\.js$/.exec(id) ?? []
    if (!resource) return null
    if (STRIPE_RESOURCES.test(resource)) return withoutSchemas(usedMethods(code))
    return [...code.matchAll(/export class (\w+)/g)].map(([, name]) => `export class ${name} {}`).join('\n')
  },
}

const STRIPE_METHODS =
  /^(constructor|create|createPreview|retrieve|update|list|expire|cancel|release|finalizeInvoice|sendInvoice)$/

function usedMethods(code: string): string {
  return code.replace(/^ {4}(\w+)\([^)]*\) \{\n[\s\S]*?^ {4}\}\n/gm, (whole, name) =>
    STRIPE_METHODS.test(name) ? whole : '',
  )
}

/** They only say which texts become Stripe's decimal numbers. We read none of those. */
function withoutSchemas(code: string): string {
  let rest = code
  for (;;) {
    const start = rest.search(/\b(request|response)Schema: \{/)
    if (start === -1) return rest
    let [end, depth] = [rest.indexOf('{', start), 0]
    do {
      if (rest[end] === '{') depth++
      if (rest[end] === '}') depth--
      end++
    } while (depth > 0)
    rest = rest.slice(0, start) + rest.slice(rest[end] === ',' ? end + 1 : end)
  }
}

/** The members of EC2's largest shapes that src/server/fleet/ec2.ts sends and reads. */
const EC2_MEMBERS: Record<string, string[]> = {
  Instance: ['InstanceId', 'InstanceType', 'LaunchTime', 'PrivateIpAddress', 'PublicIpAddress', 'State', 'Tags'],
  InstanceStatus: ['InstanceId', 'InstanceStatus'],
  InstanceState: ['Name'],
  LaunchTemplateSpecification: ['LaunchTemplateName', 'Version'],
  Placement: ['AvailabilityZone'],
  Reservation: ['Instances'],
  TerminateInstancesResult: [],
  RunInstancesRequest: [
    'MaxCount',
    'MinCount',
    'ClientToken',
    'InstanceType',
    'LaunchTemplate',
    'Placement',
    'TagSpecifications',
  ],
}

/**
 * The SDK describes each member of a shape, and their shapes in turn. The deployed Worker's SDK leaves out the members
 * that we neither send nor read.
 */
export const usedEc2Members: Plugin = {
  name: 'used-ec2-members',
  apply: 'build',
  transform(code, id) {
    if (!id.endsWith('/client-ec2/dist-es/schemas/schemas_0.js')) return null
    const nameOf = new Map([...code.matchAll(/const (\w+) = "(\w+)"/g)].map(([, key = '', name = '']) => [key, name]))
    return Object.entries(EC2_MEMBERS).reduce((rest, [shape, used]) => {
      const start = rest.indexOf('[', rest.indexOf(`export var ${shape}$ = [3,`) + `export var ${shape}$ = [`.length)
      const names = listAt(rest, start)
      const schemas = listAt(rest, rest.indexOf('[', names.end))
      const kept = names.items.map((key) => used.includes(nameOf.get(key) ?? ''))
      const only = (items: string[]) => `[${items.filter((_, i) => kept[i]).join(', ')}]`
      if (kept.filter(Boolean).length !== used.length) throw new Error(`EC2's ${shape} has other members now`)
      return `${rest.slice(0, start)}${only(names.items)}, ${only(schemas.items)}${rest.slice(schemas.end)}`
    }, code)
  },
}

/** The items of the array literal that starts here, and where it ends. */
function listAt(code: string, start: number): { items: string[]; end: number } {
  const items = ['']
  for (let [end, depth] = [start + 1, 0]; ; end++) {
    const char = code[end] ?? ''
    if (depth === 0 && char === ']') return { items: items.map((item) => item.trim()), end: end + 1 }
    if (depth === 0 && char === ',') items.push('')
    else items.push((items.pop() ?? '') + char)
    if ('[{('.includes(char)) depth++
    if (']})'.includes(char)) depth--
  }
}

/** Replacements for the polyfills that libraries include. */
const PLATFORM: Record<string, string> = {
  // Standard Webhooks'.
  'fast-sha256': `import { createHmac } from 'node:crypto'
    export const hmac = (key, data) => createHmac('sha256', key).update(data).digest()`,
  '@stablelib/base64': `export const decode = (text) => Buffer.from(text, 'base64')
    export const encode = (bytes) => Buffer.from(bytes).toString('base64')`,
  // libSQL's.
  'js-base64': `export const Base64 = {
      fromUint8Array: (bytes) => Buffer.from(bytes).toString('base64'),
      toUint8Array: (text) => new Uint8Array(Buffer.from(text, 'base64')),
    }`,
}

/** Uses the platform's own, which is also faster. */
export const platformOwn: Plugin = {
  name: 'platform-own',
  apply: 'build',
  enforce: 'pre',
  resolveId: (id) => (id in PLATFORM ? `\0own:${id}` : null),
  load(id) {
    // AWS's: workerd always has SHA-256 itself, so its replacement never runs.
    if (id.endsWith('/checksum/sha256/Sha256Js.js')) return 'export class Sha256Js {}'
    // It signs headers of event streams.
    if (id.endsWith('/signature-v4/dist-es/HeaderFormatter.js')) return 'export class HeaderFormatter {}'
    return id.startsWith('\0own:') ? PLATFORM[id.slice('\0own:'.length)] : null
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

/** Code that few requests need, loaded on demand, in one chunk because small ones compress badly. */
const RARE =
  /src.pages.(Activate|ConsoleMessages|ApiTokens|BillingHistory|BillingStatement|ChangePlan|CloseAccount|ConfirmEmailPage|Devices|ForgotPassword|Help|Privacy|ResetPassword|StatusPage|Subscriptions|Terms|Webhooks?|webhooks.\w+|terms.\w+)\.tsx|src.domain.webhook|src.server.routes.webhooks.answers|node_modules.standardwebhooks|src.server.(mail.webhook|events.(?!outbox|sweep)|accounts.(device-logins|personal-data|webhooks)|billing.(plans.change-plan|bills.(hours|invoice)-mails)|mail.money-letters|operations.(metrics|prometheus))/

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
      input: 'src/server/index.ts',
      // A Worker exports only its handlers and objects, so code its chunks share becomes another chunk.
      preserveEntrySignatures: 'strict',
      // Effects never run on the server, so we leave out what only they use, above all Action Cable's client.
      treeshake: {
        manualPureFunctions: ['useEffect'],
        moduleSideEffects: [{ test: /@rails.actioncable/, sideEffects: false }],
      },
      external: [/^cloudflare:/, /^node:/],
      output: {
        // One chunk for shared code: many small ones compress badly.
        codeSplitting: {
          groups: [
            { name: 'common', test: (id) => !RARE.test(id), minShareCount: 2, priority: 2 },
            { name: 'rare', test: RARE, minShareCount: 1, priority: 1 },
          ],
        },
        entryFileNames: 'index.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
      },
    },
  },
}

/** Renders the text-only pages. writeTexts runs it. */
export const textsBuild: EnvironmentOptions = {
  consumer: 'server',
  resolve: { noExternal: true },
  build: {
    ssr: true,
    minify: false,
    outDir: TEXTS_FOLDER,
    emptyOutDir: true,
    copyPublicDir: false,
    rolldownOptions: { input: 'src/pages/texts.tsx', output: { codeSplitting: false, entryFileNames: 'texts.js' } },
  },
}

/**
 * Adds what else the site serves to the browser's files: its text pages and the downloads, which are the command line,
 * the package with it and the typed client, and the GitHub Action.
 */
export async function writeFiles(): Promise<void> {
  const file = resolve(TEXTS_FOLDER, 'texts.js')
  const { renderTexts } = (await import(pathToFileURL(file).href)) as typeof import('../src/pages/texts.tsx')
  mkdirSync('dist/client/texts', { recursive: true })
  for (const [name, html] of renderTexts()) writeFileSync(`dist/client/texts/${name}.txt`, html)
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
      output: { codeSplitting: false, entryFileNames: 'proving-ground.js', banner: '#!/usr/bin/env node' },
    },
  },
}
