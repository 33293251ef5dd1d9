import type { UserConfig } from 'vite'
import { awsXmlInWorkerd, CLIENT_INPUT, workerBuild } from './dev/build.ts'

/** `vite build --app`: first the browser's files, then the Worker, which reads their manifest. `npm run dev` has its own (dev/vite.ts). */
export default {
  plugins: [awsXmlInWorkerd],
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
        modulePreload: { polyfill: false },
        outDir: 'dist/client',
        manifest: 'manifest.json',
        rolldownOptions: { input: CLIENT_INPUT },
      },
    },
    ssr: workerBuild,
  },
} satisfies UserConfig
