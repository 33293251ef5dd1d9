import { readVars } from '../dev/wrangler-config.ts'
import { readArguments } from './arguments.ts'
import { words } from './doctor/check.ts'
import { examine } from './doctor/examine.ts'

const USAGE = `Usage, with the environment's secrets set as variables:
  npm run doctor -- --env <staging|production>    takes the rest from [env.….vars] in wrangler.toml
  npm run doctor                                  takes everything from variables`

try {
  const { values } = readArguments(USAGE, { options: { env: { type: 'string' } } })
  const vars = values.env === undefined ? {} : readVars(values.env)
  if (values.env !== undefined && !Object.keys(vars).length) throw new Error(USAGE)
  // Check what the Worker gets, even if this shell has other values.
  const failed = await examine({ ...process.env, ...vars }, console.log, values.env)
  console.log(failed ? `\n${failed} ${failed === 1 ? 'check fails' : 'checks fail'}.` : '\nAll checks pass.')
  if (failed) process.exitCode = 1
} catch (error) {
  console.error(error instanceof Error && error.message === USAGE ? USAGE : words(error))
  process.exitCode = 1
}
