import { execFileSync, spawnSync } from 'node:child_process'
import { expandDatabase } from '../db/migrate.ts'
import { readVars } from '../dev/wrangler-config.ts'
import { readArguments } from './arguments.ts'

const USAGE = `Usage:
  npm run deploy -- --env <staging|production>    with LIBSQL_AUTH_TOKEN (and CLOUDFLARE_API_TOKEN) set
  npm run deploy:dry-run                          checks both environments without deploying`
const WAIT_MS = Number(process.env.DEPLOY_WAIT_MS ?? 120_000)
const ASK_EVERY_MS = 2_000

const wrangler = (...words: string[]) => run('wrangler', ...words)

try {
  const options = { env: { type: 'string' }, 'dry-run': { type: 'boolean' } } as const
  const { values } = readArguments(USAGE, { options })
  if (values['dry-run']) for (const name of ['staging', 'production']) wrangler('deploy', '--dry-run', '--env', name)
  else await deploy(values.env ?? '')
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function deploy(name: string): Promise<void> {
  const { origin, databaseUrl } = environment(name)
  const version = committed()
  const before = await askReady(origin)
  say(`1. Checking ${version}. ${origin} runs ${before.version ?? 'nothing yet'}.`)
  run('npm', 'run', 'check')
  wrangler('deploy', '--dry-run', '--env', name)

  say('2. Migrating the database.')
  const applied = await expandDatabase(databaseUrl, process.env.LIBSQL_AUTH_TOKEN)
  say(applied.length ? `Applied ${applied.join(', ')}.` : 'It has every migration.')
  const still = await askReady(origin)
  if (before.ready && !still.ready)
    throw new Error(`The running version is no longer ready: ${still.why} We deployed nothing.`)

  say(`3. Deploying ${version}.`)
  wrangler('deploy', '--env', name, '--var', `VERSION:${version}`, '--message', version)

  say(`4. Asking ${origin}/readyz until ${version} answers.`)
  const goBack = `To go back${before.version ? ` to ${before.version}` : ''}: npx wrangler rollback --env ${name}
Migrations only add, so the previous version still works with the database.`
  for (const until = Date.now() + WAIT_MS; ; ) {
    const now = await askReady(origin)
    if (now.ready && now.version === version) return say(`${version} is ready.\n${goBack}`)
    if (Date.now() >= until)
      throw new Error(`${version} is not ready: ${now.why ?? `${now.version} answers`}.\n${goBack}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}

function environment(name: string) {
  if (name !== 'staging' && name !== 'production') throw new Error(USAGE)
  const vars = readVars(name)
  const examples = Object.keys(vars).filter((key) => /\.example\b/.test(vars[key] ?? ''))
  if (examples.length)
    throw new Error(
      `wrangler.toml still names examples in [env.${name}]. Replace them with your own: ${examples.join(', ')}.`,
    )
  return { origin: vars.SITE_ORIGINS?.split(',')[0]?.trim() ?? '', databaseUrl: vars.LIBSQL_URL ?? '' }
}

/** The version's name is the commit. */
function committed(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()
  if (git('status', '--porcelain'))
    throw new Error('Commit your changes first, so that the deployed version has a name.')
  return git('rev-parse', '--short', 'HEAD')
}

type Readiness = { ready: boolean; version?: string; why?: string }

async function askReady(origin: string): Promise<Readiness> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(10_000) })
    const said = (await response.json()) as { version?: string; error?: string }
    return {
      ready: response.ok,
      ...(said.version && { version: said.version }),
      ...(said.error && { why: said.error }),
    }
  } catch (error) {
    return { ready: false, why: String(error) }
  }
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
