import { readFileSync, writeFileSync } from 'node:fs'
import { importAtBuild } from '../dev/build.ts'

/** `npm run types`: writes the table of calls into docs/api.md. The build doesn't, so a test can tell when it's old. */
const { fillInCalls } = await importAtBuild()
writeFileSync('docs/api.md', fillInCalls(readFileSync('docs/api.md', 'utf8')))
