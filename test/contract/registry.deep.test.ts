import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

/** Debian's docker-registry and htpasswd, and a Docker Engine that this test may start. */
const hasRegistry =
  Boolean(process.env.CI) ||
  (process.getuid?.() === 0 &&
    ['python3', 'openssl', 'dockerd', 'containerd', 'docker-registry', 'htpasswd'].every(
      (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
    ))

describe.skipIf(!hasRegistry)('private images', () => {
  test('the agent pulls them through Docker with a login, says why it cannot, and nothing keeps the login', () => {
    const { stdout, stderr } = spawnSync('python3', ['-B', '-m', 'unittest', 'test_registry'], {
      cwd: join(import.meta.dirname, 'registry'),
      env: { PATH: process.env.PATH, TMPDIR: temporaryFolder('registry') },
    })
    expect(`${stdout}${stderr}`).toMatch(/^Ran 3 tests[\s\S]*\nOK\n$/m)
  })
})
