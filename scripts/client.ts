import { writeFileSync } from 'node:fs'
import { runnerImport } from 'vite'
import { generateTypes } from '../cli/generate.ts'

/** `npm run client`: writes the types of the API's client. They aren't committed. */
const { module } = await runnerImport<typeof import('../dev/api-document.ts')>('/dev/api-document.ts', {
  configFile: false,
  logLevel: 'error',
})
writeFileSync('cli/src/api-types.ts', await generateTypes(module.document))
