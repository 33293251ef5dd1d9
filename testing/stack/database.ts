import { inject } from 'vitest'
import { openDatabase } from '../../db/client.ts'

/** The run's libSQL server, shared by all tests: make your own user. */
export function testDatabase() {
  return openTestDatabase(inject('databaseUrl'))
}

/** Asks for answers as they are: over loopback, to pack and unpack each was a fifth of what such a test computes. */
export function openTestDatabase(url: string) {
  return openDatabase(url, undefined, (request, init) => {
    const plain = new Request(request, init)
    plain.headers.set('Accept-Encoding', 'identity')
    return fetch(plain)
  })
}
