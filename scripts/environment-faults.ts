import type { Environment } from '../dev/wrangler-config.ts'
import { faultsOf, SETTINGS } from '../src/server/settings/settings.ts'
import type { Settings } from './environment.ts'

/** Everyone who can read the repository knows what is in git. */
const SECRETS = [
  'SECRET_KEY',
  'PASSWORD_PEPPER',
  'LIBSQL_AUTH_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'METRICS_TOKEN',
  'FILES_SECRET_ACCESS_KEY',
]
const ACCESS_KEY_EXAMPLE = /(AKIAIOSFODNN7|EXAMPLEKEY$)/
const IS_EXAMPLE = /(^|[.@/])example(\.(com|net|org))?([/:>.,\s]|$)|<[^>@]*>$|…/

/** What every environment must bind itself, since wrangler doesn't pass on the top level's bindings. */
export type Shared = Pick<Environment, 'durable_objects' | 'send_email' | 'ratelimits'>

/**
 * What is wrong with an environment of wrangler.toml, in a sentence each. @param secrets what the file has; null
 * without a file, when Cloudflare may have what it lists
 */
export function faultsOfEnvironment(environment: Environment, secrets: Settings | null, shared: Shared): string[] {
  const { vars = {} } = environment
  const texts: Settings = {}
  const faults: string[] = []
  for (const [name, value] of Object.entries(vars)) {
    if (typeof value === 'string') texts[name] = value
    else faults.push(`${name} must be a text: put it in quotes, ${name} = "${value}".`)
  }
  faults.push(...Object.keys(vars).flatMap((name) => nameFault(name, 'wrangler.toml')))
  faults.push(...Object.keys(secrets ?? {}).flatMap((name) => nameFault(name, 'the file of secrets')))
  for (const name of SECRETS)
    if (name in vars) faults.push(`${name} is a secret. Take it out of wrangler.toml, and set it anew: git keeps it.`)
  for (const name of Object.keys(vars))
    if (secrets && name in secrets)
      faults.push(`${name} is in wrangler.toml and in the file of secrets. Take it out of one of them.`)
  const required = environment.secrets?.required ?? []
  faults.push(...required.flatMap((name) => nameFault(name, 'secrets.required')))
  const given = { ...secrets, ...texts }
  for (const { setting, sentence, missing } of faultsOf({ ...given, ...notTexts(vars) })) {
    // It has its own sentence already, or Cloudflare has the secret.
    if (setting in notTexts(vars)) continue
    if (missing && !secrets && required.includes(setting)) continue
    faults.push(missing ? `${sentence} ${whereTo(setting)}` : sentence)
  }
  faults.push(...exampleFaults(given, environment), ...originFaults(texts, environment))
  faults.push(...bindingFaults(texts, environment, shared))
  return [...new Set(faults)]
}

const notTexts = (vars: Environment['vars']) =>
  Object.fromEntries(Object.entries(vars).filter(([, value]) => typeof value !== 'string'))

function whereTo(name: string): string {
  if (SECRETS.includes(name)) return 'Put it into the file of secrets.'
  const where = name === 'AWS_IDENTITY_CERTIFICATE' ? ': docs/operations.md says where Amazon has it.' : '.'
  return `Put it into [vars] in wrangler.toml${where}`
}

/** VERSION is the deployment's own. */
function nameFault(name: string, where: string): string[] {
  if (name === 'VERSION') return [`VERSION is the commit, which the deployment sets. Take it out of ${where}.`]
  if ((SETTINGS as string[]).includes(name)) return []
  const near = SETTINGS.map((known) => ({ known, far: distance(name, known) })).sort((a, b) => a.far - b.far)[0]
  const hint = near && near.far <= Math.max(2, name.length / 4) ? `Did you mean ${near.known}?` : 'Take it out.'
  return [`Nobody reads ${name} in ${where}. ${hint}`]
}

/** Levenshtein's, ignoring case. */
function distance(one: string, other: string): number {
  const [a, b] = [one.toUpperCase(), other.toUpperCase()]
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]))
    row = next
  }
  return row[b.length] ?? 0
}

function exampleFaults(given: Settings, { routes = [], vpc_networks = [] }: Environment): string[] {
  const names = Object.keys(given).filter((name) => {
    const value = given[name] ?? ''
    return IS_EXAMPLE.test(value) || ACCESS_KEY_EXAMPLE.test(value)
  })
  const patterns = routes.map((route) => (typeof route === 'string' ? route : route.pattern))
  const isExample = (text = '') => IS_EXAMPLE.test(text)
  const places = [
    ...names,
    ...(patterns.some(isExample) || routes.some((route) => typeof route !== 'string' && isExample(route.zone_name))
      ? ['routes']
      : []),
    ...(vpc_networks.some(({ tunnel_id }) => isExample(tunnel_id)) ? ['tunnel_id'] : []),
  ]
  return places.length ? [`These still have the example's value: ${places.join(', ')}. Replace it with your own.`] : []
}

/** The site must be where its origins say, and unreachable without a route. */
function originFaults({ SITE_ORIGINS: list = '' }: Settings, { routes = [] }: Environment): string[] {
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern).replace(/\/.*$/, ''))
  return list
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => URL.canParse(origin))
    .flatMap((origin) => {
      const { origin: bare, hostname, pathname } = new URL(origin)
      if (pathname === '/' && origin.endsWith('/'))
        return [`SITE_ORIGINS has a slash at the end of ${origin}. Write ${bare}.`]
      if (/^(localhost|127\.)/.test(hostname) || hosts.includes(hostname)) return []
      return [
        `SITE_ORIGINS has ${bare}, but no route leads there. Add { pattern = "${hostname}", custom_domain = true }.`,
      ]
    })
}

function bindingFaults({ DOOR_DOMAIN: door }: Settings, environment: Environment, shared: Shared): string[] {
  const { durable_objects, send_email = [], ratelimits = [], vpc_networks = [], routes = [] } = environment
  const bound = new Set([
    ...(durable_objects?.bindings ?? []).map(({ name }) => name),
    ...send_email.map(({ name }) => name),
    ...ratelimits.map(({ name }) => name),
  ])
  const needed = [
    ...(shared.durable_objects?.bindings ?? []).map(({ name }) => name),
    ...(shared.send_email ?? []).map(({ name }) => name),
    ...(shared.ratelimits ?? []).map(({ name }) => name),
  ]
  const faults = needed
    .filter((name) => !bound.has(name))
    .map((name) => `The environment doesn't bind ${name}. Copy the binding from the top of wrangler.toml.`)
  if (door === undefined) return faults
  if (!vpc_networks.some(({ binding }) => binding === 'FLEET'))
    faults.push('DOOR_DOMAIN needs the binding FLEET in [[vpc_networks]]. docs/operations.md, "The door", has it.')
  const patterns = routes.map((route) => (typeof route === 'string' ? route : route.pattern))
  if (!patterns.includes(`*.${door}/*`))
    faults.push(`DOOR_DOMAIN needs a route: { pattern = "*.${door}/*", zone_name = "${door}" }.`)
  return faults
}
