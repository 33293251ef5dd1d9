import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import type { LogPart } from '../../src/domain/run-log.ts'
import { newPerson, waitFor } from '../../testing/people/client.ts'
import { machinesOf } from '../../testing/people/machines.ts'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { cloudflare } from '../../testing/stack/data-machine.ts'
import { metadataService } from '../../testing/stack/metadata-service.ts'
import { hasPrograms } from '../../testing/stack/programs.ts'
import { serve } from '../../testing/stack/serve.ts'

const FOLDER = join(import.meta.dirname, 'agent')
const AGENT = resolve(import.meta.dirname, '../../infra/image/agent.py')

const env = { PATH: process.env.PATH, TMPDIR: temporaryFolder('agent') }

/** @returns what it printed, and its exit code in the last line */
function python(...args: string[]): Promise<string> {
  const child = spawn('python3', ['-B', ...args], { cwd: FOLDER, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve(`${said}\n${code}`)))
}

describe.skipIf(!hasPrograms('python3'))('the agent of a machine, in the tests of its own language', () => {
  test.each(readdirSync(FOLDER).filter((name) => name.startsWith('test_')))('%s', async (name) => {
    expect(await python('-m', 'unittest', name)).toMatch(/^Ran [1-9]\d* tests?[\s\S]*\nOK\n\n0$/m)
  })

  test('a real site keeps what it says, once, until it is stopped', async () => {
    const ada = await newPerson(inject('url'))
    const { id, address, proof } = await machinesOf(inject('url'), inject('databaseUrl')).startMachine(ada)
    const engine = spawn('python3', ['-B', 'fake_engine.py', 'world/harbor: no map\nready, but for its en'], {
      cwd: FOLDER,
      env,
    })
    atEnd(() => void engine.kill())
    const [socket] = await once(engine.stdout, 'data')
    const agent = spawn('python3', ['-B', AGENT, 'example.com/sim:1'], {
      env: {
        ...env,
        SITE: await serve(cloudflare(inject('url'), address)),
        METADATA_URL: await serve(metadataService({}, proof)),
        ENGINE: String(socket).trim(),
        ANSWER_URL: 'http://127.0.0.1:1',
      },
    })
    atEnd(() => void agent.kill())
    const said = async (text: string) => {
      const { lines } = (await ada.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
      return lines.filter((line) => line.text === text).length
    }
    await waitFor(async () => (await said('world/harbor: no map')) === 1)
    // A line without an end comes after two seconds.
    await waitFor(async () => (await said('ready, but for its en')) === 1)
    agent.kill()
    await waitFor(async () => (await said('Stopping')) === 1)
    engine.stdin.write('\n')
    expect(await once(agent, 'exit')).toEqual([0, null])
    expect(await said('The program exited with code 0.')).toBe(1)
    expect(await said('world/harbor: no map')).toBe(1)
  })
})
