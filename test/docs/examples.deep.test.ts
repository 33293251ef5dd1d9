import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { eq } from 'drizzle-orm'
import { describe, expect, inject, test } from 'vitest'
import { plans } from '../../db/schema/billing.ts'
import { freePort } from '../../dev/free-port.ts'
import type { Availability } from '../../src/domain/wire/fleet.ts'
import { serversOf, waitFor } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'
import { examples, html, plain } from '../../testing/people/reader.ts'
import { runWorkflow } from '../../testing/stack/actions-runner.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { testDatabase } from '../../testing/stack/database.ts'
import { hasPrograms } from '../../testing/stack/programs.ts'
import { rclone } from '../../testing/stack/rclone.ts'
import { found, isSkipped } from '../../testing/stack/third-party.ts'

/** Takes the documentation's examples from its pages as people see them, and runs them as people would. */

const url = inject('url')
const folder = temporaryFolder('proving-ground-docs')

type Operator = Awaited<ReturnType<typeof newOperator>>

/** Runs a script in bash, in its own folder. */
function bash(script: string, { token }: Operator, more: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(folder, 'run-'))
  const env = { PATH: process.env.PATH, HOME: cwd, PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token, ...more }
  return new Promise<{ out: string; cwd: string; read: (file: string) => string }>((done, fail) =>
    execFile('bash', ['-eo', 'pipefail', '-c', script], { cwd, env }, (error, out, err) =>
      error
        ? fail(new Error(`${script}\n${out}\n${err}`, { cause: error }))
        : done({ out, cwd, read: (file) => readFileSync(join(cwd, file), 'utf8') }),
    ),
  )
}

/** Python with nothing but requests. */
const hasRequests = () => Boolean(process.env.CI) || spawnSync('python3', ['-c', 'import requests']).status === 0

describe.runIf(hasPrograms('bash', 'curl', 'jq'))('the examples work:', () => {
  test.concurrent('curl starts a server, waits, reads its page, and stops it', async () => {
    const ada = await newOperator(url)
    const { curl = '' } = await examples('/docs')
    const { read } = await bash(curl, ada)
    const chosen = { environment: 'Mountains', vehicle: 'ugv' }
    expect(JSON.parse(read('started.json')).server).toMatchObject({ name: 'first drive', pending: true, ...chosen })
    expect(read('page.html')).toContain('<')
    expect((await serversOf(ada.person))[0]?.end_time).not.toBeNull()
  })

  test.skipIf(!hasRequests()).concurrent('Python starts a server, waits, reads its page, and stops it', async () => {
    const ada = await newOperator(url)
    const { python = '' } = await examples('/docs')
    const { out } = await bash(`python3 - <<'EOF'\n${python}\nEOF`, ada)
    expect(out).toMatch(/^200 \d+ bytes$/m)
    const [server] = await serversOf(ada.person)
    expect([server?.name, server?.end_time]).toEqual(['first flight', expect.any(String)])
  })

  test.concurrent('the command line, downloaded from the site', async () => {
    const ada = await newOperator(url)
    const { get = '', cli = '' } = await examples('/docs')
    const { out } = await bash(`${get}\n${cli}`, ada)
    expect(out).toMatch(/Your server is running: http:\S+:5173\nfirst drive {2}running .* {2}Mountains, UGV /)
    expect(out).toContain('Stopping the server.')
  })

  test.concurrent('the page of the command line', async () => {
    const ada = await newOperator(url)
    const { get = '', cli = '' } = await examples('/docs/cli')
    expect((await bash(`${get}\n${cli}`, ada)).out).toContain('nightly')
  })

  test.concurrent('its script stops the server at the end', async () => {
    const ada = await newOperator(url)
    const { get = '', script = '' } = await examples('/docs/cli')
    const { read } = await bash(`${get}\n${script}`, ada)
    expect(read('page.html')).toContain('<')
    expect((await serversOf(ada.person))[0]?.end_time).not.toBeNull()
  })

  test.skipIf(isSkipped(rclone)).concurrent('the workflow, with the action that its page downloads', async () => {
    const ada = await newOperator(url)
    const { action = '', workflow = '' } = await examples('/docs')
    const { cwd, read } = await bash(action, ada)
    const env = { PATH: `${dirname(found(rclone))}:${process.env.PATH}` }
    const ran = await runWorkflow({ workflow, folder: cwd, secrets: { PROVING_GROUND_TOKEN: ada.token }, env })
    expect(ran).toMatchObject({ ok: true, log: expect.stringContaining('Your server is running') })
    expect(ran.log).toContain('Kept 1 file in your files: ci/ada/drone/42/simulate/results')
    expect(read('results/page.html')).toContain('<')
    expect((await serversOf(ada.person))[0]?.end_time).not.toBeNull()
  })

  test.skipIf(isSkipped(rclone)).concurrent('a scenario in CI: green, and red', async () => {
    const person = await newPremiumPerson(url, inject('databaseUrl'))
    const ada = await newOperator(url, 'operate', person)
    const { action = '', workflow = '' } = await examples('/docs/ci')
    const { cwd } = await bash(action, ada)
    const env = { PATH: `${dirname(found(rclone))}:${process.env.PATH}` }
    for (const [code, ok] of [
      [0, true],
      [3, false],
    ] as const) {
      await person.request('DELETE', '/api/v1/environments/scenarios')
      await person.post('/api/v1/environments', { name: 'scenarios', image: `example.com/exits:${code}` })
      const ran = await runWorkflow({ workflow, folder: cwd, secrets: { PROVING_GROUND_TOKEN: ada.token }, env })
      expect(ran).toMatchObject({ ok, summary: expect.stringContaining(`exit code ${code}.`) })
    }
  })

  test('every call with curl answers what its page shows', async () => {
    const ada = await newOperator(url)
    const page = await html('/docs/api')
    const calls = await examples('/docs/api')
    const eve = await newOperator(url)
    const keysOf = (value: unknown) => Object.keys(value as object).sort()
    const shown = (id: string) => {
      const section = page.slice(page.indexOf(`<h3 id="${id}"`))
      const [, answer = ''] = /<p>Answers \d+:<\/p><div [^>]*><pre [^>]*><code>(.*?)<\/code>/s.exec(section) ?? []
      return JSON.parse(plain(answer))
    }
    // People can only wait in line for a full fleet, and other tests use this one: openapi.test.ts calls it.
    delete calls['post-api-v1-line']
    const done = new Set<string>()
    const call = async (id: string, who: Operator, more: Record<string, string> = {}) => {
      const { out } = await bash(calls[id] ?? `no ${id}`, who, more)
      const [got, wanted] = [JSON.parse(out), shown(id)]
      expect(keysOf(got), id).toEqual(keysOf(wanted))
      for (const [key, value] of Object.entries(wanted))
        if (value && got[key] && typeof value === 'object' && !Array.isArray(value))
          expect(keysOf(got[key]), `${id} ${key}`).toEqual(keysOf(value))
      done.add(id)
      return got
    }
    await call('post-api-v1-aws-auto-cloud-start-request', ada)
    const server = await waitFor(async () => (await serversOf(ada.person)).find(({ billed_from }) => billed_from))
    await call('post-api-v1-aws-check-server-ip-status', ada, { ADDRESS: server.ip_address ?? '' })
    await call('get-api-v1-servers-get-servers', ada)
    await call('put-api-v1-servers-id', ada, {
      SESSION_ID: server.id,
      ENDS_AT: new Date(Date.parse(server.requested_at) + 600_000).toISOString(),
    })
    const ofServer = ['get-api-v1-servers-id', 'get-api-v1-servers-id-log', 'get-api-v1-servers-id-metrics']
    for (const id of [...ofServer, 'delete-api-v1-servers-id-log']) await call(id, ada, { SESSION_ID: server.id })
    await call('post-api-v1-aws-stop-server', ada, { SERVER_ID: server.server_id, SESSION_ID: server.id })
    const { candidates } = (await eve.person.get<Availability>('/api/v1/aws/server_available')).body
    const free = candidates.find(({ available }) => available)
    await call('post-api-v1-aws-start', eve, { SERVER_ID: free?.server_id ?? '' })
    delete calls['client.mjs']
    const begin = async () => (await call('post-api-v1-files-uploads', ada)).upload.id as string
    const sent = { UPLOAD_ID: await begin() }
    const [part] = (await call('post-api-v1-files-uploads-id-parts', ada, sent)).parts
    await fetch(part.url, { method: part.method, body: Buffer.alloc(part.size) })
    await call('post-api-v1-files-uploads-id-complete', ada, sent)
    await call('delete-api-v1-files-uploads-id', ada, { UPLOAD_ID: await begin() })
    await call('get-api-v1-files-size', ada)
    await call('delete-api-v1-files', ada)
    // Only then does their plan include images of their own.
    const paid = { planType: 'premium', subType: 'paid', status: 'active' } as const
    await testDatabase().update(plans).set(paid).where(eq(plans.userId, ada.person.id))
    for (const id of Object.keys(calls)) if (!done.has(id) && !id.startsWith('delete')) await call(id, ada)
    // Afterward, the token is gone.
    const last = 'delete-api-v1-api-token'
    for (const id of Object.keys(calls)) if (!done.has(id) && id !== last) await call(id, ada)
    await call(last, ada)
    expect([...done].sort()).toEqual(Object.keys(calls).sort())
  })
})

/** Runs a page's program in Node, beside our own packages, which it imports. @returns what it prints */
async function node(path: string, name: string, { token }: Operator): Promise<string> {
  const file = resolve(`test-results/${process.pid}-${name}`)
  mkdirSync('test-results', { recursive: true })
  writeFileSync(file, (await examples(path))[name] ?? '')
  const env = { PATH: process.env.PATH, PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token }
  const out = await new Promise<string>((done, fail) =>
    execFile(process.execPath, [file], { env }, (error, text, err) => (error ? fail(new Error(err)) : done(text))),
  )
  rmSync(file)
  return out
}

test.concurrent('the Node example follows a start over the cable', async () => {
  const out = await node('/docs/events', 'cable.mjs', await newOperator(url))
  expect(out).toMatch(/succeeded Your server is running\.\n$/)
})

test.concurrent('the typed client starts a server and stops it', async () => {
  const ada = await newOperator(url)
  expect(await node('/docs/api', 'client.mjs', ada)).toBe('Starting first flight\n')
  expect((await serversOf(ada.person))[0]).toMatchObject({ name: 'first flight', end_time: expect.any(String) })
})

test('the Dockerfile of an image of your own has ten lines, and what it runs answers with its environment and vehicle', async () => {
  const { dockerfile = '' } = await examples('/docs/images')
  expect(dockerfile.split('\n')).toHaveLength(10)
  // What docs/operations.md has operators push first.
  expect(readFileSync(resolve(import.meta.dirname, '../../infra/example/Dockerfile'), 'utf8')).toBe(`${dockerfile}\n`)
  const [, file = '', script = ''] = /^COPY <<'EOF' (\S+)\n(.*?)\nEOF$/ms.exec(dockerfile) ?? []
  const [program, ...words] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '[]')
  expect([program, ...words]).toEqual(['node', file])
  expect(script).toContain('.listen(5173)')
  const port = await freePort()
  const path = join(temporaryFolder('own-image'), 'simulator.cjs')
  writeFileSync(path, script.replace('5173', `${port}`))
  const container = spawn(process.execPath, [path], { env: { ENVIRONMENT: 'Harbor', VEHICLE: 'ugv' } })
  const ended = new Promise((resolve) => container.once('exit', resolve))
  const text = await waitFor(async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => null))?.text())
  expect(text).toBe('ugv in Harbor\n')
  container.kill('SIGTERM')
  expect(await ended).toBe(0)
})
