import type { EnvironmentOptions, Plugin } from 'vite'

/** What the browser loads: one entry for pages with islands, one for public pages, the style sheets. */
export const CLIENT_INPUT = ['src/client.tsx', 'src/public.ts', 'src/styles/app.css', 'src/styles/marketing.css']

/** With browser conditions AWS's XML parser wants DOMParser, which workerd lacks. */
export const awsXmlInWorkerd: Plugin = {
  name: 'aws-xml-in-workerd',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id === './xml-parser' && importer?.includes('@aws-sdk/xml-builder')
      ? importer.replace(/[^/]*$/, 'xml-parser.js')
      : null,
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
      external: [/^cloudflare:/, /^node:/],
      output: { codeSplitting: true, entryFileNames: 'index.js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
}
