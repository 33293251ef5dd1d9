import { ENV, readArguments } from './arguments.ts'
import { summary } from './doctor/check.ts'
import { examine } from './doctor/examine.ts'
import { settingsOf } from './environment.ts'
import { sentenceOf } from './failure.ts'

const USAGE = `Usage:
  npm run doctor -- --env <staging|production>    checks what wrangler.toml and the file of secrets say
  npm run doctor                                  checks what this shell's variables say`

try {
  const { values } = readArguments(USAGE, { options: ENV })
  const failed = await examine(settingsOf(values.env), console.log, values.env)
  console.log(summary(failed))
  if (failed) process.exitCode = 1
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}
