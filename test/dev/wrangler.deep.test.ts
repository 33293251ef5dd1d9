import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

test.each(['staging', 'production'])('wrangler would deploy %s', async (name) => {
  // Under its banner, it asks the registry for a newer version.
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  const words = ['wrangler', 'deploy', '--dry-run', '--env', name]
  const { stdout, stderr } = await promisify(execFile)('npx', words, { cwd: ROOT, env })
  expect(stdout).toContain('--dry-run: exiting now.')
  expect(stdout).toMatch(/env\.PASSWORD_HASHER[^\n]*Durable Object/)
  expect(`${stdout}${stderr}`).not.toMatch(/WARNING|ERROR/)
})
