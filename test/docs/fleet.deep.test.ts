import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environments, places } from '../../db/schema/fleet.ts'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { runScript } from '../../testing/stack/run-script.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const operations = readFileSync(resolve(ROOT, 'docs/operations.md'), 'utf8')
const all = operations.split('\n').filter((line) => line.startsWith('npm run fleet -- '))
const isAboutWorlds = (line: string) => line.includes('environment')
const isAboutWarm = (line: string) => / warm( |$)/.test(line)
const commands = all.filter((line) => !isAboutWorlds(line) && !isAboutWarm(line))
const database = await ownDatabase()
/** Of an EC2 that knows every type. */
const aws: Record<string, string> = {}

/** As an operator types it. */
function type(command: string) {
  const [npm = '', ...words] = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
  return run(npm, ['--silent', ...words])
}

/** The output of either stream, and whether it succeeded. */
async function run(program: string, words: string[]) {
  const env = { ...process.env, ...aws, LIBSQL_URL: database.url }
  return promisify(execFile)(program, words, { cwd: ROOT, env }).then(
    ({ stdout }) => ({ ok: true, said: stdout.trim() }),
    (error: { stderr: string }) => ({ ok: false, said: error.stderr.trim() }),
  )
}

const fleet = (words: string, LIBSQL_URL = database.url) =>
  runScript('scripts/fleet.ts', words.split(' '), { ...process.env, ...aws, LIBSQL_URL })

describe.skipIf(isSkipped(moto))('with an EC2', () => {
  let server: Awaited<ReturnType<typeof startMoto>> | undefined
  beforeAll(async () => {
    server = await startMoto()
    Object.assign(aws, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      EC2_ENDPOINT: server.endpoint,
    })
  })
  afterAll(async () => {
    for (const name of Object.keys(aws)) delete aws[name]
    await server?.stop()
  })

  test('the documented commands manage the fleet', async () => {
    expect(commands.map((command) => command.split(' ')[4])).toEqual(['list', 'add', 'add', 'retire'])
    const [list = '', addOne = '', addThree = '', retire = ''] = commands
    expect(await type(list)).toEqual({ ok: true, said: 'ID  TYPE  ZONE  GPUS  TEMPLATE  STATE  SINCE' })

    const one = await type(addOne)
    expect(one.said).toMatch(/^Added srv_[\w-]+\.$/)
    expect((await type(addThree)).said).toMatch(/^Added srv_[\w-]+, srv_[\w-]+, srv_[\w-]+\.$/)
    expect(await database.$count(places)).toBe(4)

    const id = /srv_[\w-]+/.exec(one.said)?.[0] ?? ''
    const retired = await type(retire.replace('srv_…', id))
    expect(retired.said).toMatch(new RegExp(`^${id} is retired since 20[\\dTZ:.-]+\\.$`))
    expect(await type(retire.replace('srv_…', id))).toEqual(retired)
    const rows = (await type(list)).said.split('\n').map((row) => row.split(/ {2,}/))
    expect(rows).toHaveLength(5)
    expect(rows.find(([first]) => first === id)?.slice(1, 6)).toEqual([
      ...['g6.4xlarge', 'us-east-1a', '1', '(default)', 'retired'],
    ])
    const large = rows.filter((row) => row[3] === '4').map((row) => row.slice(4))
    expect(large).toEqual(Array.from({ length: 3 }, () => ['proving-ground-us-east-1b', 'free']))
  })

  test.each([
    ['--type g6.12xlarge --zone us-east-1a --gpus 1', 'g6.12xlarge has 4 GPUs, not 1. Leave --gpus out.'],
    ['--type m5.large --zone us-east-1a', 'm5.large has no GPU.'],
    ['--type g6.5xlarge --zone us-east-1a', 'The type may be mistyped, or AWS_REGION'],
    ['--type g6.4xlarge --zone us-east-1e', "us-east-1e doesn't offer g6.4xlarge. These do: us-east-1a, us-east-1b"],
    ['--type g6.4xlarge --zone us-west-2a', "AWS_REGION is us-east-1, where us-west-2a isn't. Correct one of them."],
  ])('adds no place with "%s"', async (words, sentence) => {
    const before = await database.$count(places)
    const { ok, said } = await fleet(`add ${words}`)
    expect([ok, await database.$count(places)]).toEqual([false, before])
    expect(said).toContain(sentence)
  })
})

test('the documented commands manage the environments', async () => {
  const told = []
  for (const command of all.filter(isAboutWorlds))
    told.push((await run('sh', ['-c', command.replace('npm run', 'npm --silent run')])).said)
  expect(told).toEqual([
    expect.stringMatching(
      /^NAME +PLANS +IMAGE +POSITION +RETIRED +DESCRIPTION\nBlocks +demo,basic,premium,enterprise +\(machine\) +1 +Boxes/,
    ),
    'Added Harbor. People can choose it now.',
    'Harbor is changed, from the next start on.',
    'Harbor is retired. What runs in it keeps running.',
  ])
  const [harbor] = await database.select().from(environments).where(eq(environments.name, 'Harbor'))
  expect(harbor).toMatchObject({ image: ':1.3', plans: ['premium', 'enterprise'], retiredAt: expect.any(Number) })
})

test.each([
  ['add-environment Two words', 'Usage, with --env'],
  ['add-environment Harbor --gpus 1', 'Usage, with --env'],
  ['add-environment 2nd --description x.', 'A name begins with a letter'],
  ['change-environment Harbor', 'Please enter what to change.'],
  ['change-environment Moon --position 2', 'There is no environment called Moon'],
  ['retire-environment Moon', 'There is no environment called Moon'],
  ['environments --reason x', 'Usage, with --env'],
  ['add --type g6 --zone us-east-1a --gpus 1', 'The type must be an EC2 instance type'],
  ['add --type g6.4xlarge --zone us-east-1a', 'To ask it, set AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.'],
  ['add --type g6.4xlarge --zone us-east-1a --template x', 'The template must be the name'],
  ['retire srv_none', 'Unknown place srv_none'],
  ['retire', 'Usage, with --env'],
  ['add --size 3', 'Usage, with --env'],
])('"%s" is refused with a sentence', async (words, sentence) => {
  const { ok, said } = await fleet(words)
  expect(ok).toBe(false)
  expect(said).toContain(sentence)
  expect(said).not.toContain('    at ')
})

test('names the reason if the database does not answer, instead of the query', async () => {
  const { ok, said } = await fleet('list', 'http://127.0.0.1:20001')
  expect(ok).toBe(false)
  expect(said).toMatch(/^The database doesn't answer, or refused \(.*ECONNREFUSED.*\)\. Check LIBSQL_URL/)
})

test('the documented commands keep machines warm, and say what that costs', async () => {
  const said = []
  for (const command of all.filter(isAboutWarm)) said.push(await type(command))
  expect(said.map(({ ok }) => ok)).toEqual([true, true, true])
  expect(said[0]?.said).toMatch(
    /^g6.4xlarge +us-east-1a +0 +\d+ +sat 9-12: 5 +16\.25 machine hours, \$22\.75 +- +Europe\/Berlin$/m,
  )
  expect(said[2]?.said).toMatch(/^TYPE +ZONE/)
  expect((await type('npm run fleet -- warm --count 5')).ok).toBe(false)
})
