import * as actionCable from '@rails/actioncable'
import { expect, test } from 'vitest'

/** Its types leave these out. */
const { Connection, ConnectionMonitor } = actionCable as unknown as Record<string, Record<string, number>>

test('the stock client keeps the times that are promised: stale after 6 s, backoff 0.15, opened again after 500 ms', () => {
  expect(ConnectionMonitor?.staleThreshold).toBe(6)
  expect(ConnectionMonitor?.reconnectionBackoffRate).toBe(0.15)
  expect(Connection?.reopenDelay).toBe(500)
})
