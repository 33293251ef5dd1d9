import type { UserConfig } from 'vite'
import { awsXmlInWorkerd, clientOptions, plainDynamicImports, reactStringRenderer, workerBuild } from './dev/build.ts'

/** `vite build --app`: first the browser's files, then the Worker, which reads their manifest. `npm run dev` has its own (dev/vite.ts). */
export default {
  plugins: [awsXmlInWorkerd, reactStringRenderer, plainDynamicImports],
  ssr: { target: 'webworker' },
  builder: {
    async buildApp(builder) {
      for (const name of ['client', 'ssr']) {
        const environment = builder.environments[name]
        if (environment) await builder.build(environment)
      }
    },
  },
  environments: {
    client: {
      build: {
        outDir: 'dist/client',
        manifest: 'manifest.json',
        // Every browser that we support preloads modules by itself.
        modulePreload: { polyfill: false },
        rolldownOptions: clientOptions,
      },
    },
    ssr: workerBuild,
  },
} satisfies UserConfig
