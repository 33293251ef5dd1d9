import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { waitFor } from '../../testing/people/client.ts'

test('the stack of `npm run dev` also refuses other origins', { timeout: 60_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-dev-'))
  const url = `http://localhost:${await freePort()}`
  const env = { ...process.env, PORT: new URL(url).port, DATA_DIR: dataDir, NODE_ENV: 'development' }
  const stack = spawn(process.execPath, ['dev/main.ts', 'dev'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => stack.once('exit', resolve))
    if (stack.exitCode === null && stack.kill()) await ended
    rmSync(dataDir, { recursive: true, force: true })
  })
  let said = ''
  for (const stream of [stack.stdout, stack.stderr]) stream.on('data', (chunk) => (said += chunk))
  await waitFor(async () => {
    if (stack.exitCode !== null) throw new Error(`The stack ended:\n${said}`)
    return said.includes(`Ready: ${url}`)
  })

  const headers = { Origin: 'http://localhost:1', 'Access-Control-Request-Method': 'POST' }
  for (const [method, path] of [
    ['OPTIONS', '/users/sign_in'],
    ['GET', '/api/v1/users/get_session'],
    ['GET', '/'],
  ]) {
    const answer = await fetch(url + path, { method: method ?? 'GET', headers })
    await answer.arrayBuffer()
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})
