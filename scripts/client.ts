import { writeFileSync } from 'node:fs'
import { generateTypes } from '../cli/generate.ts'
import { importAtBuild } from '../dev/build.ts'

/** `npm run client`: writes the types of the API's client. They aren't committed. */
const { document } = await importAtBuild()
writeFileSync('cli/src/api-types.ts', await generateTypes(document))
