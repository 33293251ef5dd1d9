import type { Resolver } from 'node:dns/promises'
import type { Settings } from '../environment.ts'
import { words } from '../failure.ts'
import { askReady } from '../readiness.ts'
import { type Finding, fail, ok, skip } from './check.ts'

/** AWS and Stripe's webhooks refuse signatures that are 5 minutes off. */
const SKEW_MS = 60_000

/** Compares this machine's clock with a vendor's. */
export async function checkClock(settings: Settings): Promise<Finding[]> {
  const url = settings.EC2_ENDPOINT || `https://ec2.${settings.AWS_REGION}.amazonaws.com/`
  try {
    const { headers } = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(10_000), redirect: 'manual' })
    const theirs = Date.parse(headers.get('Date') ?? '')
    if (Number.isNaN(theirs)) return [skip('clock', `${url} doesn't report its time.`)]
    const offMs = Date.now() - theirs
    if (Math.abs(offMs) <= SKEW_MS) return [ok('clock', 'this machine agrees with AWS')]
    const off = `${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? 'ahead of' : 'behind'}`
    return [
      fail(
        'clock',
        `This machine is ${off} AWS, which refuses signatures that are 300 s off. Turn on time synchronization.`,
      ),
    ]
  } catch (error) {
    return [fail('clock', `${url} doesn't answer (${words(error)}). Check AWS_REGION and this machine's network.`)]
  }
}

/** Each origin's name is in DNS, and the site there is ready. */
export async function checkSite(settings: Settings, dns: Resolver): Promise<Finding[]> {
  const origins = (settings.SITE_ORIGINS ?? '').split(',').map((origin) => origin.trim())
  return Promise.all(
    origins
      .filter((origin) => URL.canParse(origin))
      .map(async (origin) => {
        const { hostname } = new URL(origin)
        const isLocal = /^(localhost|127\..*)$/.test(hostname)
        if (!isLocal && !(await has(() => dns.resolve4(hostname))) && !(await has(() => dns.resolve6(hostname))))
          return fail(
            hostname,
            `The name has no address in DNS. Add the domain to Cloudflare and deploy: its route creates the record.`,
          )
        const { ready, isOurs, version, why } = await askReady(origin)
        if (ready) return ok(hostname, `${version} is ready`)
        const todo = isOurs ? 'Find the reason in the log.' : 'Deploy it: "npm run deploy".'
        return fail(hostname, `The site isn't ready: ${why} ${todo}`)
      }),
  )
}

/** Without these, email from the domain ends up in spam or gets lost. Cloudflare sends from the subdomain cf-bounce. */
export async function checkMail(settings: Settings, dns: Resolver): Promise<Finding[]> {
  const domain = /@([^@>\s]+)>?$/.exec(settings.MAIL_FROM ?? '')?.[1]
  if (!domain) return [fail('mail', 'MAIL_FROM names no domain.')]
  if (!(await texts(dns, domain)))
    return [fail('mail', `The domain ${domain} doesn't exist in DNS. Renew it, or correct MAIL_FROM.`)]
  const look = async (check: string, names: string[], start: string) => {
    for (const name of names)
      if ((await texts(dns, name))?.some((text) => text.startsWith(start))) return ok(check, name)
    const todo = `Onboard ${domain} to Cloudflare's Email Service: it adds the record.`
    return fail(check, `${names[0]} has no such record that begins with ${start}. ${todo}`)
  }
  const labels = domain.split('.')
  // A subdomain without its own policy gets the one of a domain above it.
  const policies = labels.slice(0, -1).map((_, i) => `_dmarc.${labels.slice(i).join('.')}`)
  return [
    await look('mail: SPF', [`cf-bounce.${domain}`], 'v=spf1 include:_spf.mx.cloudflare.net'),
    await look('mail: DKIM', [`cf-bounce._domainkey.${domain}`], 'v=dkim1'),
    await look('mail: DMARC', policies, 'v=dmarc1'),
  ]
}

/** Null if there is no such name. @throws if no name server answers */
async function texts(dns: Resolver, name: string): Promise<string[] | null> {
  try {
    return (await dns.resolveTxt(name)).map((parts) => parts.join('').toLowerCase())
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENODATA') return []
    if (code === 'ENOTFOUND') return null
    throw error
  }
}

const has = (look: () => Promise<unknown[]>) =>
  look().then(
    (found) => found.length > 0,
    () => false,
  )
