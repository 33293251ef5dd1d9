import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

test('`npm run dev` refuses other origins, and serves the downloads that the docs name', async () => {
  const dataDir = temporaryFolder('proving-ground-dev')
  const url = `http://localhost:${await freePort()}`
  const env = { ...process.env, PORT: new URL(url).port, DATA_DIR: dataDir, NODE_ENV: 'development' }
  const stack = spawn(process.execPath, ['dev/main.ts', 'dev'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => stack.once('exit', resolve))
    if (stack.exitCode === null && stack.kill()) await ended
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

  const download = await fetch(`${url}/cli/proving-ground.mjs`)
  expect([download.status, (await download.text()).slice(0, 19)]).toEqual([200, '#!/usr/bin/env node'])
  const action = await fetch(`${url}/cli/action/action.yml`)
  expect([action.status, await action.text()]).toEqual([200, readFileSync('cli/action/action.yml', 'utf8')])
  expect((await fetch(`${url}/cli/..%2f..%2fpackage.json`)).status).toBe(404)
})
