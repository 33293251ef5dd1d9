import { inject } from 'vitest'
import { openDatabase } from '../../db/client.ts'

/** The run's libSQL server, shared by all tests: make your own user. */
export function testDatabase() {
  return openDatabase(inject('databaseUrl'))
}
