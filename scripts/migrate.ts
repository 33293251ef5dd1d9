import { expandDatabase } from '../db/migrate.ts'
import { runCommand } from './arguments.ts'

await runCommand(async () => {
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token } = process.env
  if (!url) throw new Error('Set LIBSQL_URL (and LIBSQL_AUTH_TOKEN) to the database to migrate.')
  const applied = await expandDatabase(url, token)
  return applied.length ? `Applied ${applied.join(', ')}.` : 'The database already has every migration.'
})
