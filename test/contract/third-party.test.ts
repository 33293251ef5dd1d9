import { afterEach, expect, test, vi } from 'vitest'
import { found, isSkipped, prepare, type ThirdParty } from '../../testing/stack/third-party.ts'

afterEach(() => vi.unstubAllEnvs())

function missing(...command: [string, ...string[]]): ThirdParty {
  return { name: 'thing 1.0', find: () => null, install: [command], env: {} }
}

const failing = (script: string) => missing(process.execPath, '-e', script)

test('says why it cannot install a server', async () => {
  expect(await prepare(missing('no-such-program-here'))).toBe('no-such-program-here is not installed.')
  const offline = failing('console.error("Retrying"); console.error("No network"); process.exit(1)')
  expect(await prepare(offline)).toBe('No network')
  expect(await prepare(failing(''))).toBe('It was installed, but cannot be found.')
})

test('does not reinstall an existing server', async () => {
  expect(await prepare({ ...missing('no-such-program-here'), find: () => '/usr/bin/thing' })).toBeNull()
})

test('skips a suite whose server is missing, but in CI fails and says what to do', () => {
  const server = missing('no-such-program-here')
  vi.stubEnv('CI', '')
  expect(isSkipped(server)).toBe(true)
  expect(isSkipped({ ...server, find: () => '/usr/bin/thing' })).toBe(false)
  vi.stubEnv('CI', 'true')
  expect(isSkipped(server)).toBe(false)
  expect(() => found(server)).toThrow('thing 1.0 is not here: "npm run test:servers" installs it')
})
