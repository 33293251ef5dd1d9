import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { startSqld } from '../../dev/sqld.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { MACHINES } from '../../testing/stack/machine-settings.ts'
import { runScript } from '../../testing/stack/run-script.ts'
import { serve } from '../../testing/stack/serve.ts'

const folder = temporaryFolder('deploy')
const database = await startSqld({ dataDir: join(folder, 'libsql') })
const repository = join(folder, 'repository')
const programs = join(folder, 'programs')
const calls = join(folder, 'calls')
const git = (...words: string[]) => execFileSync('git', words, { cwd: repository, encoding: 'utf8' }).trim()

/** The site's /readyz: the stubs of wrangler and npm can change it. */
const state = join(folder, 'state')
const origin = await serve((_, response) => {
  const { status, ...body } = JSON.parse(readFileSync(state, 'utf8'))
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
})

mkdirSync(repository)
mkdirSync(programs)
git('init', '--quiet')
/** The repository's own file. Staging has somebody's values, and production still the example's. */
const example = readFileSync(resolve(import.meta.dirname, '../../wrangler.toml'), 'utf8')
const filledIn = (text: string) =>
  text
    .replace(/^SITE_ORIGINS = .*/m, `SITE_ORIGINS = "${origin}"`)
    .replace(/^LIBSQL_URL = .*/m, `LIBSQL_URL = "${database.url}"`)
    .replace('staging.proving-ground.example', 'sims.test')
    .replace('hello@staging.proving-ground.example', 'hello@sims.test')
    .replace('operator@proving-ground.example', 'operator@sims.test')
    .replace(
      '[env.staging.vars]',
      `[env.staging.vars]\nAWS_IDENTITY_CERTIFICATE = """${MACHINES.AWS_IDENTITY_CERTIFICATE}"""`,
    )
const [head = '', ...production] = example.split(/^(?=\[env\.production)/m)
const config = filledIn(head) + production.join('')
const configure = (text: string) => writeFileSync(join(repository, 'wrangler.toml'), text)
configure(config)
writeFileSync(join(repository, '.gitignore'), 'secrets.*.json\n')
git('add', '.')
git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '--message', 'One')
const version = git('rev-parse', '--short', 'HEAD')

afterAll(() => database.close())

const stub = (name: string, script = '') => {
  writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> ${calls}\n${script}\n`)
  chmodSync(join(programs, name), 0o755)
}
const READY = (says: string) => `echo '{"status":200,"version":"${says}"}' > ${state}`

beforeEach(() => {
  configure(config)
  rmSync(join(repository, 'secrets.staging.json'), { force: true })
  writeFileSync(calls, '')
  writeFileSync(state, '{"status":200,"version":"earlier"}')
  stub('npm')
  stub('wrangler', `case "$*" in *--dry-run*) ;; *) ${READY(version)} ;; esac`)
})

async function deploy(...words: string[]) {
  writeFileSync(calls, '')
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, DEPLOY_WAIT_MS: '0' }
  const { said, ok } = await runScript('scripts/deploy.ts', words, env, repository)
  return { said, ok, calls: readFileSync(calls, 'utf8').trim().split('\n').filter(Boolean) }
}

const CHECKS = ['npm run check', 'wrangler deploy --dry-run --env staging']

test('checks, migrates, deploys, waits until that version is ready, and says how to go back', async () => {
  const { said, ok, calls } = await deploy('--env', 'staging')
  expect(said).toContain(`runs earlier.`)
  expect(said).toContain(`Applied ${journal.entries.map(({ tag }) => tag).join(', ')}.`)
  expect(said).toContain(`${version} is ready.\nTo go back to earlier: npx wrangler rollback --env staging`)
  expect(ok).toBe(true)
  expect(calls).toEqual([...CHECKS, `wrangler deploy --env staging --var VERSION:${version} --message ${version}`])
})

test('stops at the first step that fails', async () => {
  stub('npm', 'exit 1')
  const { said, ok, calls } = await deploy('--env', 'staging')
  expect([ok, calls]).toEqual([false, ['npm run check']])
  expect(said).toContain('npm run check failed. We skipped the remaining steps.')
})

test('deploys nothing if the running version is no longer ready after the migration', async () => {
  stub('npm', `echo '{"status":503,"error":"The database did not answer."}' > ${state}`)
  const { said, ok, calls } = await deploy('--env', 'staging')
  expect([ok, calls]).toEqual([false, CHECKS])
  expect(said).toContain('no longer ready: The database did not answer. We deployed nothing.')
})

test('fails with the way back if another version keeps answering', async () => {
  stub('wrangler')
  const { said, ok } = await deploy('--env', 'staging')
  expect(ok).toBe(false)
  expect(said).toContain(`${version} is not ready: earlier answers.\nTo go back to earlier: npx wrangler rollback`)
})

test.each([
  [[], 'Usage:'],
  [['--env', 'prod'], 'Usage:'],
  [
    ['--env', 'production'],
    "production: AWS_IDENTITY_CERTIFICATE is missing. Put it into [vars] in wrangler.toml: docs/operations.md says where Amazon has it.\nproduction: These still have the example's value: SITE_ORIGINS, LIBSQL_URL, MAIL_FROM, OPERATOR_EMAIL, routes. Replace it with your own.\nWe did nothing.",
  ],
  [['--dry-run'], "\nproduction: These still have the example's value: SITE_ORIGINS"],
  [['--dry-run', '--env', 'moon'], 'Usage:'],
])('refuses %j', async (words, sentence) => {
  const { said, ok, calls } = await deploy(...words)
  expect([ok, calls]).toEqual([false, []])
  expect(said).toContain(sentence)
})

test('deploys only what is committed', async () => {
  writeFileSync(join(repository, 'new.txt'), '')
  const { said, ok, calls } = await deploy('--env', 'staging')
  rmSync(join(repository, 'new.txt'))
  expect([ok, calls]).toEqual([false, []])
  expect(said).toContain('Commit your changes first')
})

test('says where wrangler.toml is malformed', async () => {
  configure(config.replace(/^AWS_REGION = .*/m, 'AWS_REGION = "us-east-1\n"'))
  const { said, ok, calls } = await deploy('--env', 'staging')
  expect([ok, calls]).toEqual([false, []])
  expect(said).toMatch(/^wrangler\.toml, line \d+: control characters are not allowed in strings\./)
})

test('checks every setting before the first step, and tries one environment alone', async () => {
  expect(await deploy('--dry-run', '--env', 'staging')).toMatchObject({
    ok: true,
    calls: ['wrangler deploy --dry-run --env staging'],
  })
  configure(config.replace('PLANS_FOR_SALE = "false"', 'PLANS_FOR_SALE = false\nPLAN_FOR_SALE = "true"'))
  for (const words of [
    ['--dry-run', '--env', 'staging'],
    ['--env', 'staging'],
  ]) {
    const { said, ok, calls } = await deploy(...words)
    expect([ok, calls]).toEqual([false, []])
    expect(said).toContain('staging: PLANS_FOR_SALE must be a text: put it in quotes, PLANS_FOR_SALE = "false".')
    expect(said).toContain('staging: Nobody reads PLAN_FOR_SALE in wrangler.toml. Did you mean PLANS_FOR_SALE?')
  }
})

test('uploads the file of secrets with the version, and refuses one that others can read', async () => {
  const file = join(repository, 'secrets.staging.json')
  const text = JSON.stringify({
    SECRET_KEY: 'k'.repeat(32),
    PASSWORD_PEPPER: 'p'.repeat(32),
    AWS_ACCESS_KEY_ID: 'AKIA0000000000000000',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ACCOUNT_ID: MACHINES.AWS_ACCOUNT_ID,
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  })
  writeFileSync(file, text, { mode: 0o600 })
  expect((await deploy('--env', 'staging')).calls.at(-1)).toMatch(
    /^wrangler deploy --env staging --secrets-file secrets\.staging\.json --var VERSION:/,
  )
  chmodSync(file, 0o644)
  const open = await deploy('--env', 'staging')
  expect([open.ok, open.calls]).toEqual([false, []])
  expect(open.said).toContain('Others on this machine can read secrets.staging.json. Run "chmod 600')
  chmodSync(file, 0o600)
  writeFileSync(file, '{"SECRET_KEY": 1}')
  expect((await deploy('--env', 'staging')).said).toContain("with a text for each secret: SECRET_KEY isn't one.")
})
