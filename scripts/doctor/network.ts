import type { Resolver } from 'node:dns/promises'
import { type Finding, fail, ok, type Settings, skip, words } from './check.ts'

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
        try {
          const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(10_000) })
          const said = (await response.json()) as { version?: string; error?: string }
          if (response.ok) return ok(hostname, `${said.version} is ready`)
          return fail(hostname, `The site isn't ready: ${said.error} Find the reason in the log.`)
        } catch (error) {
          return fail(hostname, `The site doesn't answer (${words(error)}). Deploy it: "npm run deploy".`)
        }
      }),
  )
}

/** Without these, email from the domain ends up in spam or gets lost. */
export async function checkMail(settings: Settings, dns: Resolver): Promise<Finding[]> {
  const domain = /@([^@>\s]+)>?$/.exec(settings.MAIL_FROM ?? '')?.[1]
  if (!domain) return [fail('mail', 'MAIL_FROM names no domain.')]
  const txt = async (name: string, start: string) => {
    const records = await dns.resolveTxt(name).catch(() => [])
    return records.some((parts) => parts.join('').toLowerCase().startsWith(start))
  }
  const todo = `Onboard ${domain} to Cloudflare's Email Service: it adds the record.`
  return [
    (await txt(domain, 'v=spf1')) ? ok('mail: SPF', domain) : fail('mail: SPF', `${domain} has no SPF record. ${todo}`),
    (await txt(`_dmarc.${domain}`, 'v=dmarc1'))
      ? ok('mail: DMARC', domain)
      : fail('mail: DMARC', `${domain} has no DMARC record. ${todo}`),
  ]
}

const has = (look: () => Promise<unknown[]>) =>
  look().then(
    (found) => found.length > 0,
    () => false,
  )
