import { expect, test } from 'vitest'
import { connectionOf, isLoopback, networkOf } from '../../../src/server/limits/network.ts'

test.each([
  ['198.51.100.7', '198.51.100.7', '198.51.100'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2', '2001:db8:1'],
  ['2001:DB8:0001:0002::1', '2001:db8:1:2', '2001:db8:1'],
  ['2001:db8::1', '2001:db8:0:0', '2001:db8:0'],
  ['2001:db8:0:0:aaaa::', '2001:db8:0:0', '2001:db8:0'],
])('%s is counted as %s, its network as %s', (address, connection, network) => {
  expect(connectionOf(address)).toBe(connection)
  expect(networkOf(address)).toBe(network)
})

test('tells loopback from lookalikes', () => {
  for (const own of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) expect(isLoopback(own), own).toBe(true)
  for (const other of ['128.0.0.1', '1.127.0.0', '::2', '2001:db8::1', '10.0.0.1'])
    expect(isLoopback(other), other).toBe(false)
})
