import { inject } from 'vitest'
import { openDatabase } from '../../db/client.ts'

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
