import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { reachBy } from '../../../src/server/fleet/reach.ts'
import type { Machine } from '../../../src/server/ports/machine.ts'
import { atEnd } from '../../../testing/stack/at-end.ts'

test('a program that knows GET only answers through the door', async () => {
  // As Python's `websockets` 10 to 16, and viser: it closes any other request without a word.
  const program = createServer((req, res) => (req.method === 'GET' ? res.writeHead(426).end('Hi') : req.destroy()))
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise((resolve) => program.close(resolve)))
  const { port } = program.address() as AddressInfo
  // Node has no machines' network.
  const machine = {
    fetch: (_: string, path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init),
  }
  expect(await reachBy(machine as unknown as Machine)('10.0.0.1', 5173)).toEqual({ status: 'reachable' })
})
