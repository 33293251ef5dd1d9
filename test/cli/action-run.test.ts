import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { PASSWORD, serversOf } from '../../testing/people/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'
import { runWorkflow } from '../../testing/stack/actions-runner.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { recordingRclone } from '../../testing/stack/recording-rclone.ts'

const url = inject('url')

async function withImage(image: string) {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  expect((await person.post('/api/v1/environments', { name: 'Own', image })).status).toBe(201)
  const ada = await newOperator(url, 'operate', person)
  const fly = (inputs: string[], after = 'echo on', more: Partial<Parameters<typeof runWorkflow>[0]> = {}) => {
    const workflow = `jobs:
  scenario:
    steps:
      - id: flight
        uses: ./cli/action
        with:
          url: \${{ inputs.url }}
          token: \${{ secrets.PROVING_GROUND_TOKEN }}
          environment: Own
          ${inputs.join('\n          ')}
      - run: ${after}
`
    const secrets = { PROVING_GROUND_TOKEN: ada.token }
    return runWorkflow({ workflow, folder: process.cwd(), secrets, inputs: { url }, ...more })
  }
  return { ...ada, fly }
}

// Each spends its time waiting for its own server.

test.concurrent('a program that passes: its log as a group, its code, its summary', async () => {
  const { fly, person } = await withImage('example.com/exits:0')
  const output = (name: string) => `\${{ steps.flight.outputs.${name} }}`
  const value = 'correct-horse'
  expect((await person.request('PUT', '/secrets/LICENSE', { value, current_password: PASSWORD })).status).toBe(200)
  const after = `echo "code ${output('exit-code')} of ${output('id')}"`
  const { ok, log, summary } = await fly(
    ['run: pytest -q', 'parameters: SEED=1', 'secrets: LICENSE', 'stop-after: 10m'],
    after,
  )
  const [server] = await serversOf(person)
  expect([ok, log]).toEqual([true, expect.stringMatching(/::group::Log\n::stop-commands::\S+\n/)])
  expect(log).toMatch(/\nhello\nSEED=1\nLICENSE=\*\*\*\npytest\n-q\n/)
  expect(log).toContain(`code 0 of ${server?.id}`)
  expect(log).toMatch(/\nPassed, exit code 0\. \d s on a .+\. The server and its log: http\S+\n/)
  expect(summary).toMatch(
    /^\*\*Passed\*\*, exit code 0\. \d s on a g6\S+, covered by your plan\. \[The server and its log\]\(http/,
  )
  expect(server).toMatchObject({ until: 'exit', command: ['pytest', '-q'], name: 'CI 42' })
  expect(log).toContain('The server has already stopped.')
})

test.concurrent('a program that fails fails the step, with what it left', async () => {
  const { fly } = await withImage('example.com/exits:3')
  const rclone = recordingRclone()
  const env = { PATH: `${rclone.PATH}:${process.env.PATH}` }
  const words = ['run: |', '  pytest', '  -k', '  fog and rain', 'keep: out']
  const { ok, log, summary } = await fly(words, 'echo on', { env })
  expect([ok, log]).toEqual([false, expect.stringMatching(/\npytest\n-k\nfog and rain\n/)])
  expect(log).toContain('::error::Failed, exit code 3.')
  expect(summary).toContain('**Failed**, exit code 3.')
})

test.concurrent('what a program leaves goes through no link of the job', async () => {
  const { fly, person } = await withImage('example.com/exits:0')
  const folder = temporaryFolder('proving-ground-linked')
  mkdirSync(join(folder, 'out'))
  symlinkSync('../.git', join(folder, 'out', 'hooks'))
  const { ok, log } = await fly(['run: default', 'keep: out'], 'echo on', { env: { GITHUB_WORKSPACE: folder } })
  expect([ok, log]).toEqual([false, expect.stringContaining('::error::out is or contains a link')])
  expect(await serversOf(person)).toEqual([])
})

test.concurrent('nothing that a program prints is a command to the runner', async () => {
  const { fly } = await withImage('example.com/exits:0')
  const { log } = await fly(['run: |', '  ::error::no', '  ::endgroup::'])
  const [, token = '', printed = ''] = /::stop-commands::(\S+)\n([\s\S]*?)\n::\1::\n::endgroup::/.exec(log) ?? []
  expect(token).toMatch(/^[0-9a-f-]{36}$/)
  expect(printed).toContain('\n::error::no\n::endgroup::\n')
})

test.concurrent('what did not run says why', async () => {
  const { fly } = await withImage('registry.invalid/ada/harbor:1')
  const { ok, log } = await fly(['run: default'])
  expect([ok, log]).toEqual([false, expect.stringMatching(/::error::.*couldn't pull registry\.invalid\/ada\/harbor:1/)])
  expect(await fly(['run: default', 'wait: soon'])).toMatchObject({
    ok: false,
    log: expect.stringContaining('::error::wait is soon.'),
  })
})

test.concurrent('a canceled job stops the server, and so does one whose runner was killed', async () => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const { fly, person } = await withImage('example.com/floods:1')
    const begun = Promise.withResolvers<typeof signal>()
    let reads = 0
    const onRequest = (path: string) => path.includes('/log?') && ++reads === 3 && begun.resolve(signal)
    const line = await openLine(url, { onRequest })
    const { ok, log } = await fly(['run: default'], 'echo on', { inputs: { url: line.url }, interrupt: begun.promise })
    line.close()
    expect([ok, log]).toEqual([false, expect.stringContaining('Stopping the server.')])
    expect((await serversOf(person))[0]).toMatchObject({ end_time: expect.any(String) })
  }
})

test.concurrent('a runner that is killed before the start is answered leaves no server', async () => {
  const { fly, person } = await withImage('example.com/floods:1')
  const kill = Promise.withResolvers<'SIGKILL'>()
  let starts = 0
  const loses = (path: string) => {
    if (!path.endsWith('_start_request') || ++starts > 1) return false
    kill.resolve('SIGKILL')
    return true
  }
  const line = await openLine(url, { loses })
  const { ok, log } = await fly(['run: default'], 'echo on', { inputs: { url: line.url }, interrupt: kill.promise })
  line.close()
  expect([ok, starts, log]).toEqual([false, 2, expect.stringContaining('Stopping the server.')])
  expect(await serversOf(person)).toMatchObject([{ end_time: expect.any(String) }])
})

test.concurrent('four scenarios of one account go through, one after the other', async () => {
  const { fly, person } = await withImage('example.com/exits:0')
  const scenarios = ['fog', 'rain', 'night', 'wind'].map((scenario) =>
    fly(['run: default', `parameters: SCENARIO=${scenario}`]),
  )
  const done = await Promise.all(scenarios)
  expect(done.map(({ ok }) => ok)).toEqual([true, true, true, true])
  const servers = (await serversOf(person)).toReversed()
  expect(servers.map(({ parameters }) => parameters.SCENARIO).sort()).toEqual(['fog', 'night', 'rain', 'wind'])
  for (const [i, { requested_at }] of servers.entries())
    expect(Date.parse(requested_at)).toBeGreaterThan(Date.parse(servers[i - 1]?.end_time ?? '2020-01-01'))
})
