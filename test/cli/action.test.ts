import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from '@actions/languageservice'
import { expect, inject, test } from 'vitest'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { parse } from 'yaml'
import { serversOf } from '../../testing/people/client.ts'
import { CLI_FILE, newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { runWorkflow } from '../../testing/stack/actions-runner.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { hasPrograms } from '../../testing/stack/programs.ts'
import { recordingRclone } from '../../testing/stack/recording-rclone.ts'

const url = inject('url')
const WORKFLOWS = '.github/workflows'
const smoke = readFileSync(`${WORKFLOWS}/smoke.yml`, 'utf8')

type Operator = Awaited<ReturnType<typeof newOperator>>
const fly = (ada: Operator, more: Partial<Parameters<typeof runWorkflow>[0]> = {}) => {
  const secrets = { PROVING_GROUND_TOKEN: ada.token }
  return runWorkflow({ workflow: smoke, folder: process.cwd(), secrets, inputs: { url }, ...more })
}

test.each(['cli/action/action.yml', ...readdirSync(WORKFLOWS).map((name) => `${WORKFLOWS}/${name}`)])(
  '%s: GitHub finds nothing wrong with it',
  async (file) => {
    // It doesn't check inputs of actions in the same repository.
    const text = readFileSync(file, 'utf8').replace('uses: ./cli/action', 'uses: ours/action@v1')
    const action = parse(readFileSync('cli/action/action.yml', 'utf8'))
    const fetchActionMetadata = async ({ owner }: { owner: string }) => (owner === 'ours' ? action : undefined)
    const document = TextDocument.create(`file:///${file}`, 'yaml', 1, text)
    const found = await validate(document, { actionsMetadataProvider: { fetchActionMetadata } })
    const ours = found.filter(({ message }) => !String(message).startsWith('Unable to resolve action `actions/'))
    expect(ours.map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  },
)

test('its files need nothing that people don’t download with them', async () => {
  const files = readdirSync('cli/action')
  const used = files.flatMap((name) => [
    ...readFileSync(`cli/action/${name}`, 'utf8').matchAll(/(?:from|import\() ?'([^']+)'/g),
  ])
  expect(used.length).toBeGreaterThan(10)
  for (const [, from = ''] of used) if (!from.startsWith('node:')) expect(files).toContain(from.replace('./', ''))
  const page = await (await fetch(`${url}/docs`)).text()
  expect(page).toContain(`/cli/action/{${files.toSorted().join()}}`)
})

test('pins other people’s actions', () => {
  const all = readdirSync(WORKFLOWS).map((name) => readFileSync(`${WORKFLOWS}/${name}`, 'utf8'))
  const used = all.join('\n').match(/uses: .*/g) ?? []
  expect(used.length).toBeGreaterThan(3)
  for (const one of used) expect(one).toMatch(/^uses: (\.\/\S+|[\w/-]+@[0-9a-f]{40} # v[\d.]+)$/)
})

test
  .runIf(hasPrograms('curl'))
  .concurrent('starts a server, gives its address to the next steps, and stops it', async () => {
    const ada = await newOperator(url)
    const parameters =
      'parameters: |\n            SCENARIO=harbor fog\n            EXPR=a=b\n            EMPTY=\n            TAIL= fog  '
    const world = `environment: Mountains\n          vehicle: ugv\n          ${parameters}`
    const { ok, log } = await fly(ada, { workflow: smoke.replace('stop-after: 15m', `$&\n          ${world}`) })
    expect([ok, log]).toEqual([true, expect.stringMatching(/::add-mask::pg_\w+\n[\s\S]*is running: http:\S+:5173\n/)])
    expect(log).toContain('Stopping the server.')
    const [server, ...others] = await serversOf(ada.person)
    expect(others).toEqual([])
    expect(server).toMatchObject({ name: 'Smoke 42', environment: 'Mountains', vehicle: 'ugv' })
    expect(server?.parameters).toEqual({ SCENARIO: 'harbor fog', EXPR: 'a=b', EMPTY: '', TAIL: ' fog  ' })
    expect(server?.end_time).toEqual(expect.any(String))
    expect(Date.parse(server?.ends_at ?? '') - Date.parse(server?.requested_at ?? '')).toBe(15 * 60_000)
  })

test.concurrent('names the secrets that an own image gets', async () => {
  const ada = await newOperator(url)
  const secrets = 'secrets: |\n            token\n            KEY'
  const { ok, log } = await fly(ada, { workflow: smoke.replace('stop-after: 15m', `$&\n          ${secrets}`) })
  expect([ok, log]).toEqual([false, expect.stringContaining('"token" can\'t be a secret\'s name.')])
})

test.concurrent('stops the server when a later step fails', async () => {
  const ada = await newOperator(url)
  const { ok, log } = await fly(ada, { workflow: smoke.replace(/run: curl.*/, 'run: exit 1') })
  expect([ok, log]).toEqual([false, expect.stringContaining('is running')])
  expect(await serversOf(ada.person)).toMatchObject([{ end_time: expect.any(String) }])
})

test.concurrent('stops the server when someone cancels the job while it starts', async () => {
  const ada = await newOperator(url)
  const cancel = Promise.withResolvers<'SIGINT'>()
  const onRequest = (path: string) => path.endsWith('get_servers') && cancel.resolve('SIGINT')
  const line = await openLine(url, { onRequest })
  const { ok, log } = await fly(ada, { inputs: { url: line.url }, interrupt: cancel.promise })
  line.close()
  expect([ok, log]).toEqual([false, expect.stringContaining('::error::The job was canceled.')])
  expect(await serversOf(ada.person)).toMatchObject([{ end_time: expect.any(String) }])
})

test.concurrent('stops the server when the runner kills the start before its answer', async () => {
  const ada = await newOperator(url)
  const kill = Promise.withResolvers<'SIGKILL'>()
  let starts = 0
  const loses = (path: string) => {
    if (!path.endsWith('_start_request') || ++starts > 1) return false
    kill.resolve('SIGKILL')
    return true
  }
  const line = await openLine(url, { loses })
  const { ok, log } = await fly(ada, { inputs: { url: line.url }, interrupt: kill.promise })
  line.close()
  expect([ok, starts, log]).toEqual([false, 2, expect.stringContaining('Stopping the server.')])
  expect(await serversOf(ada.person)).toMatchObject([{ end_time: expect.any(String) }])
})

test.concurrent('keeps a folder in the files, also when a step fails', async () => {
  const ada = await newOperator(url)
  const folder = temporaryFolder('proving-ground-kept')
  const run = [
    `run: |`,
    `mkdir -p '${folder}/runs/logs'`,
    `echo flown > '${folder}/runs/logs/رحلة.txt'`,
    `: > '${folder}/runs/empty'`,
    'exit 1',
  ].join('\n          ')
  const workflow = smoke.replace('stop-after: 15m', `$&\n          keep: ${folder}/runs`).replace(/run: curl.*/, run)
  const rclone = recordingRclone()
  const { ok, log } = await fly(ada, { workflow, env: { PATH: `${rclone.PATH}:${process.env.PATH}` } })
  expect([ok, log]).toEqual([false, expect.stringContaining('Kept 3 files in your files: ci/ada/drone/42/fly/runs\n')])
  expect(rclone.recorded().args.slice(0, 3)).toEqual([
    'copy',
    `${folder}/runs`,
    expect.stringMatching(/^:s3:files\/.+\/files\/ci\/ada\/drone\/42\/fly\/runs\/$/),
  ])
})

test.concurrent('fails if the folder could not be kept', async () => {
  const ada = await newOperator(url)
  const folder = temporaryFolder('proving-ground-kept')
  const workflow = smoke
    .replace('stop-after: 15m', `$&\n          keep: ${folder}`)
    .replace(/run: curl.*/, 'run: echo flown')
  const rclone = recordingRclone({ ends: 'process.exit(1)' })
  const { ok, log } = await fly(ada, { workflow, env: { PATH: `${rclone.PATH}:${process.env.PATH}` } })
  expect([ok, log]).toEqual([false, expect.stringMatching(/::error::The folder \S+ was not kept\./)])
  expect(await serversOf(ada.person)).toMatchObject([{ end_time: expect.any(String) }])
})

test.concurrent('keeps nothing that a link of the job leads to', async () => {
  const ada = await newOperator(url)
  const folder = temporaryFolder('proving-ground-linked')
  symlinkSync('/etc', join(folder, 'runs'))
  const workflow = smoke
    .replace('stop-after: 15m', '$&\n          keep: runs/ssl')
    .replace(/run: curl.*/, 'run: echo flown')
  const { ok, log } = await fly(ada, { workflow, env: { GITHUB_WORKSPACE: folder } })
  expect([ok, log]).toEqual([false, expect.stringContaining('::error::runs/ssl leads through a link')])
})

test.concurrent('warns of a folder to keep that nobody made', async () => {
  const ada = await newOperator(url)
  const workflow = smoke
    .replace('stop-after: 15m', '$&\n          keep: nowhere')
    .replace(/run: curl.*/, 'run: echo flown')
  const { ok, log } = await fly(ada, { workflow })
  expect([ok, log]).toEqual([true, expect.stringContaining('::warning::There is no folder nowhere to keep.')])
})

test.concurrent('leaves servers alone that it did not start', async () => {
  const ada = await newOperator(url)
  await ada.run(['start'])
  const { ok, log } = await fly(ada)
  expect([ok, log]).toEqual([false, expect.stringMatching(/::error::.*already running[\s\S]*No server started\./)])
  expect(await serversOf(ada.person)).toMatchObject([{ name: null, end_time: null }])
})

test.concurrent('stops only the server it started', async () => {
  const ada = await newOperator(url)
  const cli = `'${process.execPath}' '${CLI_FILE}'`
  const env = { PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: ada.token }
  const run = `run: |\n          ${cli} stop && until ${cli} start --name mine; do sleep 0.3; done`
  const { ok, log } = await fly(ada, { workflow: smoke.replace(/run: curl.*/, run), env })
  expect([ok, log]).toEqual([true, expect.stringContaining('The server has already stopped.')])
  expect(await serversOf(ada.person)).toMatchObject([
    { name: 'mine', end_time: null },
    { end_time: expect.any(String) },
  ])
})

test.concurrent.each([
  ['without a token', { token: '' }, 'Set the input token.'],
  ['over plain HTTP', { url: 'http://example.com' }, 'Use https://.'],
  ['with another duration', { 'stop-after': 'soon' }, 'Write it like 45m'],
  ['with one of two lines', { 'stop-after': '1h\n50%' }, '::error::stop-after is 1h%0A50%25. Write it'],
])('refuses %s', async (_, inputs, sentence) => {
  const given = { url, token: 'pg_x', ...inputs }
  const wishes = Object.entries(given).map(([name, value]) => `          ${name}: ${JSON.stringify(value)}`)
  const workflow = `jobs:\n  fly:\n    steps:\n      - uses: ./cli/action\n        with:\n${wishes.join('\n')}\n`
  const { ok, log } = await runWorkflow({ workflow, folder: process.cwd(), secrets: {} })
  expect([ok, log]).toEqual([false, expect.stringContaining(sentence)])
})
