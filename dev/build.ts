import { resolve } from 'node:path'
import type { EnvironmentOptions, Plugin, Rolldown } from 'vite'

/** A file of the built Worker, as workerd takes it. */
export type WorkerModule = { type: 'ESModule'; path: string; contents: string }

/** What the browser loads: one entry for pages with islands, one for public pages, the style sheets. */
export const clientOptions: Rolldown.RolldownOptions = {
  input: ['src/client.tsx', 'src/public.ts', 'src/styles/app.css', 'src/styles/public.css'],
  // Action Cable's log, which nobody switches on.
  treeshake: { manualPureFunctions: ['logger'] },
  // React asks its scheduler for what only the scheduler of React's own tests has. Our imports are the type checker's business.
  checks: { importIsUndefined: false },
  output: {
    codeSplitting: {
      groups: [
        // Changes rarely: a returning browser keeps it over our releases.
        { name: 'react', test: /node_modules.(react|react-dom|scheduler)./, priority: 2 },
        // What several islands share is small, and together smaller; the dashboard has no forms.
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

/** With browser conditions AWS's XML parser wants DOMParser, which workerd lacks. */
export const awsXmlInWorkerd: Plugin = {
  name: 'aws-xml-in-workerd',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id === './xml-parser' && importer?.includes('@aws-sdk/xml-builder')
      ? importer.replace(/[^/]*$/, 'xml-parser.js')
      : null,
}

/** `react-dom/server` brings its streaming renderer along, as large as the one that is used here. */
export const stringRendererOnly: Plugin = {
  name: 'string-renderer-only',
  enforce: 'pre',
  resolveId: (id) =>
    id === 'react-dom/server'
      ? resolve(import.meta.dirname, '../node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js')
      : null,
}

/**
 * Vite wraps each dynamic import in a preloader, which would be a second script on every public page; our pages name themselves what they will
 * need. It has no switch for that, but leaves the imports of a library alone, and asks for it here alone once the environments are set.
 */
export const plainDynamicImports: Plugin = {
  name: 'plain-dynamic-imports',
  apply: 'build',
  configResolved: (config) => void Object.assign(config.build, { lib: {} }),
}

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
      // A Worker exports its handlers and objects, nothing else: what its chunks share becomes a chunk too.
      preserveEntrySignatures: 'strict',
      external: [/^cloudflare:/, /^node:/],
      output: { codeSplitting: true, entryFileNames: 'index.js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
}
