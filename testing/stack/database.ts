import { drizzle } from 'drizzle-orm/libsql'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../db/client.ts'

/** The test run's libSQL server, shared by all tests: make your own user. */
export function testDatabase() {
  return openTestDatabase(inject('databaseUrl'))
}

/** Requests uncompressed answers: over loopback, compression took a fifth of such a test's CPU time. */
export function openTestDatabase(url: string) {
  return openDatabase(url, undefined, (request, init) => {
    const plain = new Request(request, init)
    plain.headers.set('Accept-Encoding', 'identity')
    return fetch(plain)
  })
}

type Calls = Pick<Database['$client'], 'execute' | 'batch'>

/** The same database through other calls. */
export function throughCalls({ $client }: Database, { execute, batch }: Partial<Calls>): Database {
  const client = Object.assign(Object.create($client), execute && { execute }, batch && { batch })
  return drizzle(client) as Database
}

/** Does something just before the next batch that says these words, as after a verb's reads. */
export function beforeBatch({ $client }: Database, words: string, meanwhile: () => Promise<unknown>): void {
  const { batch } = $client
  $client.batch = async (statements, mode) => {
    if (JSON.stringify(statements).includes(words)) {
      $client.batch = batch
      await meanwhile()
    }
    return batch.call($client, statements, mode)
  }
}
