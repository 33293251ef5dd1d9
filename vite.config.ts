import type { UserConfig } from 'vite'
import {
  awsXmlInWorkerd,
  cliBuild,
  clientOptions,
  nativeBase64,
  noCertificates,
  noEventStreams,
  noProtobuf,
  noWords,
  onlyReadJson,
  plainDynamicImports,
  stringRendererOnly,
  workerBuild,
  writeFiles,
} from './dev/build.ts'
import { reactModules } from './dev/react-modules.ts'

/**
 * `vite build --app`: builds the browser's files, then the Worker, which reads their manifest, then the command line.
 * `npm run dev` uses dev/vite.ts.
 */
export default {
  plugins: [
    noWords,
    awsXmlInWorkerd,
    noCertificates,
    noEventStreams,
    noProtobuf,
    onlyReadJson,
    plainDynamicImports,
    reactModules,
    stringRendererOnly,
    nativeBase64,
  ],
  ssr: { target: 'webworker' },
  builder: {
    async buildApp(builder) {
      for (const name of ['client', 'ssr', 'cli']) {
        const environment = builder.environments[name]
        if (environment) await builder.build(environment)
      }
      await writeFiles()
    },
  },
  environments: {
    client: {
      build: { outDir: 'dist/client', manifest: 'manifest.json', rolldownOptions: clientOptions },
    },
    ssr: workerBuild,
    cli: cliBuild,
  },
} satisfies UserConfig
