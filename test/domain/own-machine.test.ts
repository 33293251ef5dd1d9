import { expect, test } from 'vitest'
import { isOwnMachine } from '../../src/domain/own-machine.ts'

test.each([
  ['http:', 'localhost', true],
  ['https:', 'localhost', true],
  ['http:', '127.0.0.1', true],
  ['http:', '127.255.10.1', true],
  ['http:', '[::1]', true],
  ['xhttp:', 'localhost', false],
  ['http:s', 'localhost', false],
  ['ftp:', 'localhost', false],
  ['http:', 'my.localhost', false],
  ['http:', 'evil-localhost', false],
  ['http:', 'localhost.example.com', false],
  ['http:', '10.0.0.1', false],
])('%s//%s: %s', (protocol, hostname, is) => {
  expect(isOwnMachine({ protocol, hostname })).toBe(is)
})
