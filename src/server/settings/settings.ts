import type { Door } from '../../domain/door.ts'
import { AppError } from '../../domain/error.ts'
import { TCP_PORTS, WEB_PORTS } from '../../domain/machine-ports.ts'
import { isOwnMachine } from '../../domain/own-machine.ts'
import { isEmail } from '../../domain/person.ts'
import { type BucketSettings, bucketSettingsOf, faultsOfBucket } from './bucket-settings.ts'
import type { Env } from './env.ts'
import type { Log } from './log.ts'
import { type MachineSettings, machineSettingsOf, publicKeyOf } from './machine-settings.ts'

/** `address` is one line. */
type Seller = { name: string; address: string; taxId: string | null }

export type Config = {
  /** The site's own origins; links use the first. */
  origins: string[]
  /** Every origin is this machine's own, so this is no deployment. */
  local: boolean
  secretKey: string
  passwordPepper: string
  mailFrom: string
  operatorEmail: string
  plansForSale: boolean
  /** The seller, on statements. */
  seller: Seller
  /** Where people report security holes: an https address, or mailto: one. */
  securityContact: string
  /** The day of the operators' last rehearsal of a restore, YYYY-MM-DD; null: they didn't say. */
  restoreRehearsed: string | null
  /** The tokens that may read /metrics; without any, nobody may. */
  metricsTokens: string[]
  /** The origin of Stripe's checkout page, which our form redirects to. */
  checkoutOrigin: string
  /** The origin of Stripe's customer portal. Your own domain for the checkout serves it as well. */
  portalOrigin: string
  /** Null: every machine is open to the internet at its own address. */
  door: Door | null
  /** Machines can only be reached through their door. Otherwise, machines get no files, because anyone could read them there. */
  doorOnly: boolean
  /** Null: there are no files. */
  files: BucketSettings | null
  /** The console opens only to admins with a second factor. */
  adminFactor: boolean
  /** People may wait in line for a server. Off: nobody can join anymore. */
  line: boolean
  machines: MachineSettings
}

type Setting = { [Name in keyof Env]-?: Env[Name] extends string | undefined ? Name : never }[keyof Env]
type Rule = { optional?: true; must: string; holds(value: string): boolean }

const present: Rule = { must: 'must have a value without spaces and line breaks', holds: (value) => !/\s/.test(value) }
const line: Rule = { must: 'must be one line of text', holds: (value) => /^\S.*\S$/.test(value) }
const url: Rule = {
  must: 'must be an http(s) address',
  holds: (value) => /^https?:\/\/[^\s/]/.test(value) && URL.canParse(value),
}

const portList: Rule = {
  must: 'must list ports from 1 to 65535, separated by commas',
  holds: (value) => parsePorts(value).every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535),
}

/** What each setting must be, in words that complete the sentence "SECRET_KEY …". */
const RULES: Record<Setting, Rule> = {
  SITE_ORIGINS: {
    must: 'must list http(s) origins without a path, separated by commas, like https://example.com',
    holds: (value) => parseOrigins(value).length > 0 && !parseOrigins(value).includes(null),
  },
  SECRET_KEY: {
    must: 'must have 32 characters or more; while it is rotated, both secrets, separated by a comma',
    holds: (value) => value.split(',').every((secret) => secret.trim().length >= 32),
  },
  PASSWORD_PEPPER: {
    must: 'must not be empty; while it is rotated, both peppers, separated by a comma without a space',
    holds: (value) => !value.includes(',') || value.split(',').every((pepper) => /^\S+$/.test(pepper)),
  },
  LIBSQL_URL: {
    must: 'must be an address that begins with libsql://, https:// or http://',
    holds: (value) => /^(libsql|https?):\/\/[^\s/]/.test(value) && URL.canParse(value),
  },
  LIBSQL_AUTH_TOKEN: { ...present, optional: true },
  AWS_REGION: { must: 'must be a region like us-east-1', holds: (value) => /^[a-z]{2}(-[a-z]+)+-\d+$/.test(value) },
  AWS_ACCESS_KEY_ID: present,
  AWS_SECRET_ACCESS_KEY: present,
  EC2_LAUNCH_TEMPLATE: { ...present, optional: true },
  EC2_ENDPOINT: { ...url, optional: true },
  STRIPE_SECRET_KEY: {
    optional: true,
    must: 'must begin with sk_ or rk_',
    holds: (value) => /^[sr]k_\S+$/.test(value),
  },
  STRIPE_WEBHOOK_SECRET: {
    optional: true,
    must: 'must begin with whsec_; while it is rotated, both secrets, separated by a comma',
    holds: (value) => value.split(',').every((secret) => /^whsec_\S+$/.test(secret.trim())),
  },
  STRIPE_API_BASE: { ...url, optional: true },
  STRIPE_CHECKOUT_ORIGIN: {
    optional: true,
    must: 'must be an http(s) origin without a path, like https://pay.example.com',
    holds: (value) => parseOrigin(value) === value,
  },
  PLANS_FOR_SALE: { optional: true, must: 'must be true or false', holds: (value) => /^(true|false)$/.test(value) },
  SELLER_NAME: { ...line, optional: true },
  SELLER_ADDRESS: { ...line, optional: true },
  SELLER_TAX_ID: { ...line, optional: true },
  MAIL_FROM: {
    must: 'must be an email address, or a name and the address in angle brackets',
    holds: (value) => isEmail(/^[^<>\r\n]*<([^<>]+)>$/.exec(value)?.[1] ?? value),
  },
  OPERATOR_EMAIL: { must: 'must be an email address', holds: isEmail },
  SECURITY_CONTACT: {
    optional: true,
    must: 'must be an email address or an https:// address',
    holds: (value) => isEmail(value) || (/^https:\/\/[^\s/]+\S*$/.test(value) && URL.canParse(value)),
  },
  RESTORE_REHEARSED: {
    optional: true,
    must: 'must be a day like 2026-11-30',
    holds: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(value).toJSON()?.startsWith(value),
  },
  METRICS_TOKEN: {
    optional: true,
    must: 'must have 32 characters or more without spaces; while it is rotated, both tokens, separated by a comma',
    holds: (value) => value.split(',').every((token) => /^\S{32,}$/.test(token)),
  },
  ADMIN_FACTOR: { optional: true, must: 'must be on or off', holds: (value) => /^(on|off)$/.test(value) },
  LINE: { optional: true, must: 'must be on or off', holds: (value) => /^(on|off)$/.test(value) },
  DOOR_DOMAIN: {
    optional: true,
    must: 'must be a domain like door.example, in lower case',
    holds: (value) => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]+$/.test(value),
  },
  DOOR_ONLY: { optional: true, must: 'must be true or false', holds: (value) => /^(true|false)$/.test(value) },
  DOOR_PORTS: { ...portList, optional: true },
  DOOR_TCP_PORTS: { ...portList, optional: true },
  FILES_ENDPOINT: { ...url, optional: true },
  FILES_BUCKET: { ...present, optional: true },
  FILES_REGION: { ...present, optional: true },
  FILES_ACCESS_KEY_ID: { ...present, optional: true },
  FILES_SECRET_ACCESS_KEY: { ...present, optional: true },
  FILES_STS_URL: { ...url, optional: true },
  AWS_ACCOUNT_ID: { must: 'must have 12 digits', holds: (value) => /^\d{12}$/.test(value) },
  AWS_IDENTITY_CERTIFICATE: {
    must: "must be Amazon's RSA certificate for the region, in PEM",
    holds: (value) => publicKeyOf(value) !== null,
  },
  VERSION: { ...present, optional: true },
}

/** Every name that the Worker reads. */
export const SETTINGS = Object.keys(RULES) as Setting[]

const configs = new WeakMap<Env, Config>()

/**
 * The settings, checked once per isolate. Every request, trigger, and object starts here, so a missing setting shows at
 * once, not when something needs it. The log names each bad setting, never its value.
 * @throws unavailable
 */
export function readConfig(env: Env, log: Log): Config {
  const known = configs.get(env)
  if (known) return known
  const faults = faultsOf(env)
  if (env.DOOR_DOMAIN && !env.FLEET)
    faults.push({ setting: 'DOOR_DOMAIN', sentence: 'DOOR_DOMAIN needs the binding FLEET.' })
  if (faults.length) {
    log('settings_wrong', { message: faults.map(({ sentence }) => sentence).join(' ') })
    throw new AppError('unavailable', "This site isn't set up correctly. The operator can find the reason in the log.")
  }
  const origins = parseOrigins(env.SITE_ORIGINS).filter((origin) => origin !== null)
  const local = origins.every((origin) => isOwnMachine(new URL(origin)))
  const config: Config = {
    origins,
    local,
    secretKey: env.SECRET_KEY,
    passwordPepper: env.PASSWORD_PEPPER,
    mailFrom: env.MAIL_FROM,
    operatorEmail: env.OPERATOR_EMAIL,
    plansForSale: env.PLANS_FOR_SALE === 'true',
    seller: {
      name: env.SELLER_NAME ?? 'Proving Ground',
      address: env.SELLER_ADDRESS ?? new URL(origins[0] ?? '').host,
      taxId: env.SELLER_TAX_ID ?? null,
    },
    securityContact: contactOf(env.SECURITY_CONTACT ?? `${origins[0]}/help`),
    restoreRehearsed: env.RESTORE_REHEARSED ?? null,
    metricsTokens: env.METRICS_TOKEN?.split(',') ?? [],
    checkoutOrigin: env.STRIPE_CHECKOUT_ORIGIN ?? 'https://checkout.stripe.com',
    portalOrigin: env.STRIPE_CHECKOUT_ORIGIN ?? 'https://billing.stripe.com',
    door: doorOf(env, origins[0] ?? ''),
    doorOnly: local || env.DOOR_ONLY === 'true',
    files: bucketSettingsOf(env),
    line: env.LINE !== 'off',
    adminFactor: !local || env.ADMIN_FACTOR === 'on',
    machines: machineSettingsOf(env),
  }
  configs.set(env, config)
  return config
}

const contactOf = (contact: string): string => (isEmail(contact) ? `mailto:${contact}` : contact)

function doorOf({ DOOR_DOMAIN, DOOR_PORTS: web, DOOR_TCP_PORTS: tcp }: Env, site: string): Door | null {
  if (!DOOR_DOMAIN) return null
  const { protocol, port } = new URL(site)
  return {
    domain: DOOR_DOMAIN,
    scheme: protocol === 'https:' ? 'https' : 'http',
    port: port && `:${port}`,
    webPorts: web ? parsePorts(web) : WEB_PORTS,
    tcpPorts: tcp ? parsePorts(tcp) : TCP_PORTS,
  }
}

const parsePorts = (list: string): number[] => list.split(',').map((port) => Number(port.trim()))

/** The sentence names the setting, never its value. */
type SettingFault = { setting: Setting; sentence: string; missing?: true }

/** One for each setting that is missing or malformed. */
export function faultsOf(settings: Partial<Record<Setting, unknown>>): SettingFault[] {
  return SETTINGS.map((name) => faultOf(name, settings[name]))
    .filter((fault) => fault !== null)
    .concat(faultsOfStripe(settings), faultsOfBucket(settings), faultsOfDoor(settings), faultsOfFactor(settings))
}

/** A seller needs both, so one without the other is a mistake. */
function faultsOfStripe(settings: Partial<Record<Setting, unknown>>): SettingFault[] {
  const both = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const
  const isNeeded = settings.PLANS_FOR_SALE === 'true' || both.some((name) => settings[name] !== undefined)
  return both.filter((name) => isNeeded && settings[name] === undefined).map(missing)
}

/** A page of a door may set cookies for its domain and everything below it, so the site must be in neither. */
function faultsOfDoor(settings: Partial<Record<Setting, unknown>>): SettingFault[] {
  const { DOOR_DOMAIN: domain, SITE_ORIGINS: list, DOOR_ONLY: only } = settings
  if (only === 'true' && domain === undefined)
    return [{ setting: 'DOOR_ONLY', sentence: 'DOOR_ONLY needs DOOR_DOMAIN.' }]
  if (typeof domain !== 'string' || typeof list !== 'string') return []
  const hosts = parseOrigins(list).flatMap((origin) => (origin === null ? [] : new URL(origin).hostname))
  const isIn = (host: string, other: string) => host === other || host.endsWith(`.${other}`)
  const wrong = hosts.find((host) => isIn(domain, host) || isIn(host, domain))
  // The whole local stack is below localhost.
  if (wrong === undefined || wrong === 'localhost') return []
  const sentence = `DOOR_DOMAIN must be a domain of its own, apart from the site's ${wrong}.`
  return [{ setting: 'DOOR_DOMAIN', sentence }]
}

/** A stolen password must not open the console of a site that others can reach. */
function faultsOfFactor({ ADMIN_FACTOR, SITE_ORIGINS }: Partial<Record<Setting, unknown>>): SettingFault[] {
  if (ADMIN_FACTOR !== 'off' || typeof SITE_ORIGINS !== 'string') return []
  if (parseOrigins(SITE_ORIGINS).every((origin) => origin === null || isOwnMachine(new URL(origin)))) return []
  return [{ setting: 'ADMIN_FACTOR', sentence: 'ADMIN_FACTOR can be off only on your own machine.' }]
}

const missing = (setting: Setting): SettingFault => ({ setting, sentence: `${setting} is missing.`, missing: true })

function faultOf(setting: Setting, value: unknown): SettingFault | null {
  const { optional, must, holds } = RULES[setting]
  if (value === undefined) return optional ? null : missing(setting)
  const isValid = typeof value === 'string' && value.trim() !== '' && holds(value)
  return isValid ? null : { setting, sentence: `${setting} ${must}.` }
}

/** As browsers write them: lower case, no trailing slash, no default port. */
export function parseOrigins(list: string): (string | null)[] {
  const parts = list.split(',').map((part) => part.trim())
  return parts.filter(Boolean).map(parseOrigin)
}

function parseOrigin(text: string): string | null {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return null
  const { href, origin } = new URL(text)
  return href === `${origin}/` ? origin : null
}
