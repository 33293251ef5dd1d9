import { Resolver } from 'node:dns/promises'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { faultsOf } from '../../src/server/settings/settings.ts'
import type { Settings } from '../environment.ts'
import { sentenceOf } from '../failure.ts'
import { checkAws } from './aws.ts'
import { type Finding, fail, skip } from './check.ts'
import { checkDatabase } from './database.ts'
import { checkDoor } from './door.ts'
import { checkDoorOnly } from './door-only.ts'
import { checkFiles } from './files.ts'
import { checkClock, checkMail, checkSite } from './network.ts'
import { checkSettings } from './settings.ts'
import { checkStripe } from './stripe.ts'

/** One part of the product. `needs` matches the names of the settings that its checks require. */
type Room = { room: string; needs: RegExp; check(): Finding[] | Promise<Finding[]> }

const MARK = { ok: ' ok ', fail: 'FAIL', skip: 'skip' }

/**
 * Runs every check, one after another.
 * @param say gets each line as soon as we know it
 * @param environment that of wrangler.toml, if we know it
 * @returns how many fail
 */
export async function examine(settings: Settings, say: (line: string) => void, environment?: string): Promise<number> {
  const dns = new Resolver({ timeout: 5_000, tries: 2 })
  const nameServer = settings.DOCTOR_DNS ?? process.env.DOCTOR_DNS
  if (nameServer) dns.setServers([nameServer])
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
    ...(settings.DOOR_DOMAIN ? [{ room: 'door', needs: /^DOOR_/, check: () => checkDoor(settings) }] : []),
    ...(settings.DOOR_ONLY === 'true'
      ? [{ room: 'door only', needs: /^(AWS|EC2|DOOR)_/, check: () => checkDoorOnly(settings, inUse) }]
      : []),
    ...(settings.FILES_ENDPOINT ? [{ room: 'files', needs: /^FILES_/, check: () => checkFiles(settings) }] : []),
    { room: 'Stripe', needs: /^(STRIPE_|SITE_ORIGINS)/, check: () => checkStripe(settings, environment) },
    { room: 'mail', needs: /^MAIL_FROM/, check: () => checkMail(settings, dns) },
    { room: 'site', needs: /^SITE_ORIGINS/, check: () => checkSite(settings, dns) },
  ]
  const faults = faultsOf(settings)
  let failed = 0
  for (const { room, needs, check } of rooms) {
    const fault = faults.find(({ setting }) => needs.test(setting))
    const findings = fault
      ? [skip(room, `Fix ${fault.setting} first.`)]
      : await Promise.resolve(check()).catch((error) => [fail(room, sentenceOf(error))])
    for (const { state, check: name, says } of findings) {
      say(`${MARK[state]}  ${name}: ${says}`)
      if (state === 'fail') failed++
    }
  }
  return failed
}
