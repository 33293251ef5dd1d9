import { expandDatabase } from '../db/migrate.ts'
import { ENV, NEEDS_DATABASE, readArguments, runCommand } from './arguments.ts'
import { settingsOf } from './environment.ts'

const USAGE = `Usage, ${NEEDS_DATABASE}:
  npm run db:migrate`

await runCommand(async () => {
  const { values } = readArguments(USAGE, { options: ENV })
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token } = settingsOf(values.env)
  if (!url) throw new Error(USAGE)
  const applied = await expandDatabase(url, token)
  return applied.length ? `Applied ${applied.join(', ')}.` : 'The database already has every migration.'
})
