import { sql } from 'drizzle-orm'
import { openDatabase } from '../db/client.ts'
import { expandDatabase } from '../db/migrate.ts'
import { readDeployment } from '../dev/wrangler-config.ts'
import { ENV, readArguments } from './arguments.ts'
import { summary } from './doctor/check.ts'
import { examine } from './doctor/examine.ts'
import { firstOrigin, getEnvironment, readSecrets, secretsFile, settingsOf } from './environment.ts'
import { faultsOfEnvironment } from './environment-faults.ts'
import { sentenceOf } from './failure.ts'
import { askReady } from './readiness.ts'
import { fillDomain, makeDatabase, makeSecrets } from './setup-files.ts'
import { prepareStripe } from './setup-stripe.ts'

const USAGE = `Usage:
  npm run setup -- --env <staging|production> [--domain <the site's domain, without "staging.">]
  Does what it can, and stops at the first thing that only you can do. Run it again after each. Safe to repeat.`

/** What is left for the operator to do, and the next command; null if it's done. */
type Step = { name: string; next(): Promise<string | null> }

try {
  const { values } = readArguments(USAGE, { options: { ...ENV, domain: { type: 'string' } } })
  if (!values.env) throw new Error(USAGE)
  // A mistyped name must not leave files behind.
  getEnvironment(values.env)
  const todo = await walk(steps(values.env, values.domain))
  if (todo) console.log(todo)
  else {
    const failed = await examine(settingsOf(values.env), console.log, values.env)
    console.log(summary(failed))
    process.exitCode = failed ? 1 : 0
  }
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}

/** @returns what to do next */
async function walk(list: Step[]): Promise<string | null> {
  for (const { name, next } of list) {
    const todo = await next()
    if (todo) return `next  ${name}: ${todo}\nThen run this again.`
    console.log(` ok   ${name}`)
  }
  return null
}

function steps(env: string, domain: string | undefined): Step[] {
  const open = () => {
    const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: token } = settingsOf(env)
    return openDatabase(url, token)
  }
  const count = async (what: string) =>
    (await open().all<{ n: number }>(sql.raw(`SELECT count(*) n FROM ${what}`)))[0]?.n
  return [
    { name: 'domain', next: async () => fillDomain(domain) },
    { name: 'secrets', next: async () => makeSecrets(env) },
    { name: 'database', next: async () => makeDatabase(env) },
    {
      name: 'settings',
      next: async () => faultsBut(env, /^(AWS_((SECRET_)?ACCESS_KEY|ACCOUNT_ID|IDENTITY)|STRIPE_WEBHOOK_SECRET)/),
    },
    {
      name: 'tables',
      async next() {
        const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: token } = settingsOf(env)
        await expandDatabase(url, token)
        return null
      },
    },
    {
      name: 'zone',
      async next() {
        const { AWS_ACCESS_KEY_ID: key, AWS_REGION: region } = settingsOf(env)
        if (key && (await count('servers WHERE retired_at IS NULL'))) return null
        return `Sign in to AWS as an administrator ("aws configure"), then: npm run zone -- --env ${env} --zone ${region}a --image <your simulator's image>`
      },
    },
    // Before the site, which needs the secret of Stripe's webhook.
    ...(readSecrets(env)?.STRIPE_SECRET_KEY === undefined
      ? []
      : [{ name: 'stripe', next: async () => prepareStripe(env) }]),
    {
      name: 'site',
      async next() {
        const missing = faultsBut(env)
        if (missing) return missing
        const { isOurs, why } = await askReady(firstOrigin(settingsOf(env)))
        if (isOurs) return null
        return `${why} Commit, run "npx wrangler login", then: npm run deploy -- --env ${env}`
      },
    },
    {
      name: 'admin',
      async next() {
        if (await count('users WHERE admin = 1')) return null
        return `Sign up on the site and confirm your address, then: npm run grant -- admin <your address> --env ${env}`
      },
    },
  ]
}

/** What the operator must change by hand. @param later what a later step writes */
function faultsBut(env: string, later = /^$/): string | null {
  const faults = faultsOfEnvironment(getEnvironment(env), readSecrets(env), readDeployment())
  const now = faults.filter((fault) => !later.test(fault))
  return now.length ? `\n${now.join('\n')}\nThe file of secrets is ${secretsFile(env)}.` : null
}
