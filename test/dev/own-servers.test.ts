import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultOfServers } from '../../dev/own-servers.ts'
import { startServices } from '../../dev/services.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { runScript } from '../../testing/stack/run-script.ts'

test.each([
  'http://localhost:8080',
  'http://127.0.0.1:8080/',
  'https://127.9.9.9',
  'http://[::1]:8080',
  'http://LOCALHOST:1',
  // As Node itself reads it.
  'http://2130706433:8080',
])('the local stack takes %s', (address) => {
  expect(faultOfServers({ libsqlUrl: address, ec2Endpoint: address, stripeApiBase: address })).toBeNull()
})

test.each([
  'libsql://proving-ground.turso.io',
  'https://proving-ground.turso.io',
  'http://10.0.0.5:8080',
  'http://db.internal:8080',
  'http://localhost.evil.example',
  'http://127.0.0.1.nip.io',
  'http://localhost@evil.example',
  'http://127.0.0.1:80@evil.example/',
  'http://[2001:db8::1]:8080',
  'ws://localhost:8080',
  'libsql://localhost:8080',
  'file:production.db',
  'localhost:8080',
  '',
])('the local stack refuses %j', (address) => {
  expect(faultOfServers({ libsqlUrl: address })).toMatch(
    /^LIBSQL_URL leads away from this machine\..*"unset LIBSQL_URL"/,
  )
  expect(faultOfServers({ ec2Endpoint: address })).toMatch(/^EC2_ENDPOINT leads away/)
  expect(faultOfServers({ stripeApiBase: address })).toMatch(/^STRIPE_API_BASE leads away/)
})

test('neither command touches anything before it refuses', async () => {
  const dataDir = temporaryFolder('proving-ground-foreign')
  const libsqlUrl = 'https://proving-ground.invalid'
  await expect(startServices({ dataDir, port: 1, libsqlUrl })).rejects.toThrow('LIBSQL_URL leads away')
  for (const mode of ['dev', 'start']) {
    const env = { PATH: process.env.PATH, DATA_DIR: dataDir, LIBSQL_URL: libsqlUrl }
    const { ok, said } = await runScript('dev/main.ts', [mode], env)
    expect([ok, said.split('\n')]).toEqual([false, [expect.stringContaining('LIBSQL_URL leads away')]])
  }
  expect(readdirSync(dataDir)).toEqual([])
})
