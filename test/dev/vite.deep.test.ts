import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { openIndex } from '../../src/domain/docs-search.ts'
import { newForwarder, openForward } from '../../testing/people/forwarder.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { ask, cookieOf, listenOn, onMachine } from '../../testing/stack/door.ts'
import { spawnStack } from '../../testing/stack/spawned-stack.ts'

/** `npm run dev` on a port of its own, until the test is over. */
async function startDev(more: Record<string, string> = {}): Promise<string> {
  const url = `http://localhost:${await freePort()}`
  const DATA_DIR = temporaryFolder('proving-ground-dev')
  const env = { ...process.env, PORT: new URL(url).port, DATA_DIR, NODE_ENV: 'development', ...more }
  await spawnStack('dev', env)
  return url
}

test('`npm run dev` refuses other origins, and serves the downloads and the search of the docs', async () => {
  const url = await startDev()
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
  const search = openIndex(await (await fetch(`${url}/texts/docs-search.txt`)).text())
  expect(search('webhook').length).toBeGreaterThan(0)
  expect((await fetch(`${url}/texts/nothing.txt`)).status).toBe(404)
  expect(await (await fetch(`${url}/api/openapi.json`)).json()).toMatchObject({ servers: [{ url }] })
})

test('with `npm run dev`, the door lets its owner in, and forward carries each half of a connection to its end', async () => {
  const url = await startDev({ DOOR_DOMAIN: 'door.localhost', EC2_BOOT_MS: '100' })
  const ada = await newForwarder({ url })
  const { door_url, machine } = ada.server
  expect(new URL(door_url).port).toBe(new URL(url).port)
  expect((await ask(door_url, { cookie: await cookieOf(ada.person, door_url) })).status).toBe(200)
  expect((await ask(door_url)).status).toBe(401)

  await listenOn(machine, 41451, async (socket) => {
    const got = Buffer.concat(await socket.toArray())
    socket.end(`got ${got.length}`)
  })
  await onMachine(machine, 9090, (_, res) => void res.end('a page'))
  const { connect, localPort } = await openForward(ada, [41451, 9090])
  const half = await connect(41451)
  half.end(Buffer.alloc(3_000_000))
  expect(Buffer.concat(await half.toArray()).toString()).toBe('got 3000000')
  expect(await (await fetch(`http://127.0.0.1:${localPort(9090)}/`)).text()).toBe('a page')
})
