import { execFileSync, spawnSync } from 'node:child_process'
import { expandDatabase } from '../db/migrate.ts'
import { readDeployment } from '../dev/wrangler-config.ts'
import { ENV, readArguments } from './arguments.ts'
import { firstOrigin, getEnvironment, readSecrets, secretsFile, settingsOf } from './environment.ts'
import { faultsOfEnvironment } from './environment-faults.ts'
import { sentenceOf } from './failure.ts'
import { askReady } from './readiness.ts'

const USAGE = `Usage:
  npm run deploy -- --env <staging|production>              with its file of secrets, or with LIBSQL_AUTH_TOKEN set
  npm run deploy:dry-run [-- --env <staging|production>]    checks both environments, or one, without deploying`
const WAIT_MS = Number(process.env.DEPLOY_WAIT_MS ?? 120_000)
const ASK_EVERY_MS = 2_000

const wrangler = (...words: string[]) => run('wrangler', ...words)

try {
  const { values } = readArguments(USAGE, { options: { ...ENV, 'dry-run': { type: 'boolean' } } })
  if (values['dry-run']) dryRun(values.env === undefined ? ['staging', 'production'] : [values.env])
  else await deploy(values.env ?? '')
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}

function dryRun(names: string[]): void {
  const faults = names.flatMap(faultsOf)
  if (faults.length) throw new Error(faults.join('\n'))
  for (const name of names) wrangler('deploy', '--dry-run', '--env', name)
}

async function deploy(name: string): Promise<void> {
  const { origin, databaseUrl, token, secrets } = environment(name)
  const version = committed()
  const before = await askReady(origin)
  say(`1. Checking ${version}. ${origin} runs ${before.version ?? 'nothing yet'}.`)
  run('npm', 'run', 'check')
  wrangler('deploy', '--dry-run', '--env', name)

  say('2. Migrating the database.')
  const applied = await expandDatabase(databaseUrl, token)
  say(applied.length ? `Applied ${applied.join(', ')}.` : 'It has every migration.')
  const still = await askReady(origin)
  if (before.ready && !still.ready)
    throw new Error(`The running version is no longer ready: ${still.why} We deployed nothing.`)

  say(`3. Deploying ${version}.`)
  wrangler('deploy', '--env', name, ...secrets, '--var', `VERSION:${version}`, '--message', version)

  say(`4. Asking ${origin}/readyz until ${version} answers.`)
  const goBack = `To go back${before.version ? ` to ${before.version}` : ''}: npx wrangler rollback --env ${name}
Migrations only add, so the previous version still works with the database.`
  for (const until = Date.now() + WAIT_MS; ; ) {
    const now = await askReady(origin)
    if (now.ready && now.version === version) return say(`${version} is ready.\n${goBack}`)
    if (Date.now() >= until)
      throw new Error(`${version} is not ready: ${now.why ?? `${now.version} answers.`}\n${goBack}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}

function environment(name: string) {
  const faults = faultsOf(name)
  if (faults.length) throw new Error(`${faults.join('\n')}\nWe did nothing.`)
  const settings = settingsOf(name)
  return {
    origin: new URL(firstOrigin(settings)).origin,
    databaseUrl: settings.LIBSQL_URL ?? '',
    token: settings.LIBSQL_AUTH_TOKEN,
    secrets: readSecrets(name) ? ['--secrets-file', secretsFile(name)] : [],
  }
}

/** Before the first step, because a wrong setting would otherwise fail the last one, or the site. */
function faultsOf(name: string): string[] {
  if (name !== 'staging' && name !== 'production') throw new Error(USAGE)
  const faults = faultsOfEnvironment(getEnvironment(name), readSecrets(name), readDeployment())
  return faults.map((fault) => `${name}: ${fault}`)
}

/** The version's name is the commit. */
function committed(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()
  if (git('status', '--porcelain'))
    throw new Error('Commit your changes first, so that the deployed version has a name.')
  return git('rev-parse', '--short', 'HEAD')
}

/** Runs a program and shows its output. @throws if it fails */
function run(program: string, ...words: string[]): void {
  const { status, error } = spawnSync(program, words, {
    stdio: 'inherit',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  if (status !== 0)
    throw new Error(
      `${program} ${words.join(' ')} failed${error ? `: ${error.message}` : ''}. We skipped the remaining steps.`,
    )
}

function say(sentence: string): void {
  console.log(sentence)
}
