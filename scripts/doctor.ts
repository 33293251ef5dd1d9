import { Resolver } from 'node:dns/promises'
import type { PlaceRow } from '../db/schema.ts'
import { readVars } from '../dev/wrangler-config.ts'
import { faultsOf } from '../src/server/settings.ts'
import { readArguments } from './arguments.ts'
import { checkAws } from './doctor/aws.ts'
import { type Finding, fail, type Settings, skip, words } from './doctor/check.ts'
import { checkDatabase } from './doctor/database.ts'
import { checkClock, checkMail, checkSite } from './doctor/network.ts'
import { checkSettings } from './doctor/settings.ts'
import { checkStripe } from './doctor/stripe.ts'

const USAGE = `Usage, with the environment's secrets set as variables:
  npm run doctor -- --env <staging|production>    takes the rest from [env.….vars] in wrangler.toml
  npm run doctor                                  takes everything from variables`

/** One part of the product. `needs` matches the names of the settings that its checks require. */
type Room = { room: string; needs: RegExp; check(): Finding[] | Promise<Finding[]> }

const MARK = { ok: ' ok ', fail: 'FAIL', skip: 'skip' }

try {
  const { values } = readArguments(USAGE, { options: { env: { type: 'string' } } })
  const vars = values.env === undefined ? {} : readVars(values.env)
  if (values.env !== undefined && !Object.keys(vars).length) throw new Error(USAGE)
  // Check what the Worker gets, even if this shell has other values.
  await examine({ ...process.env, ...vars })
} catch (error) {
  console.error(error instanceof Error && error.message === USAGE ? USAGE : words(error))
  process.exitCode = 1
}

async function examine(settings: Settings): Promise<void> {
  const dns = new Resolver({ timeout: 5_000, tries: 2 })
  if (process.env.DOCTOR_DNS) dns.setServers([process.env.DOCTOR_DNS])
  let inUse: PlaceRow[] = []
  const rooms: Room[] = [
    { room: 'settings', needs: /^$/, check: () => checkSettings(settings) },
    {
      room: 'database',
      needs: /^LIBSQL_/,
      async check() {
        const database = await checkDatabase(settings)
        inUse = database.inUse
        return database.findings
      },
    },
    { room: 'clock', needs: /^(AWS_REGION|EC2_ENDPOINT)/, check: () => checkClock(settings) },
    { room: 'AWS', needs: /^(AWS|EC2)_/, check: () => checkAws(settings, inUse) },
    { room: 'Stripe', needs: /^(STRIPE_|SITE_ORIGINS)/, check: () => checkStripe(settings) },
    { room: 'mail', needs: /^MAIL_FROM/, check: () => checkMail(settings, dns) },
    { room: 'site', needs: /^SITE_ORIGINS/, check: () => checkSite(settings, dns) },
  ]
  const faults = faultsOf(settings)
  let failed = 0
  for (const { room, needs, check } of rooms) {
    const fault = faults.find((sentence) => needs.test(sentence))
    const findings = fault
      ? [skip(room, `Fix ${fault.split(' ')[0]} first.`)]
      : await Promise.resolve(check()).catch((error) => [fail(room, words(error))])
    for (const { state, check: name, says } of findings) {
      console.log(`${MARK[state]}  ${name}: ${says}`)
      if (state === 'fail') failed++
    }
  }
  console.log(failed ? `\n${failed} ${failed === 1 ? 'check fails' : 'checks fail'}.` : '\nAll checks pass.')
  if (failed) process.exitCode = 1
}
