import { expandDatabase } from '../db/migrate.ts'

const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token } = process.env
try {
  if (!url) throw new Error('Set LIBSQL_URL (and LIBSQL_AUTH_TOKEN) to the database to migrate.')
  const applied = await expandDatabase(url, token)
  console.log(applied.length ? `Applied ${applied.join(', ')}.` : 'The database already has every migration.')
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
