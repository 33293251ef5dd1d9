import type { Context } from '../../src/server/runtime/context.ts'
import type { Config } from '../../src/server/settings/settings.ts'
import { memoryCounters } from './counters.ts'

const CONFIG: Config = {
  origins: ['http://site.test'],
  local: true,
  secretKey: 'a-secret-of-thirty-two-characters-or-more',
  passwordPepper: 'pepper',
  mailFrom: 'hello@site.test',
  operatorEmail: 'operator@site.test',
  adminFactor: false,
  plansForSale: true,
  seller: { name: 'Proving Ground', address: 'site.test', taxId: null },
  securityContact: 'mailto:security@example.com',
  restoreRehearsed: null,
  metricsTokens: [],
  checkoutOrigin: 'https://checkout.stripe.com',
  portalOrigin: 'https://billing.stripe.com',
  door: null,
  doorOnly: true,
  files: null,
  line: true,
  machines: { accountId: '', region: '', publicKey: new Uint8Array() },
}

/** @returns what the Worker hands to a verb, with these parts. Another part that leads outside fails once it's called. */
export function testContext({
  config,
  ...parts
}: Partial<Omit<Context, 'config'>> & { config?: Partial<Config> }): Context {
  return {
    db: absent('db'),
    now: Date.now,
    browser: '',
    random: () => 0,
    cloud: absent('cloud'),
    payments: absent('payments'),
    bucket: null,
    machine: null,
    mailer: absent('mailer'),
    reach: absent('reach'),
    askStatus: absent('askStatus'),
    channel: () => silent,
    eventSender: () => silent,
    fleetWatcher: absent('fleetWatcher'),
    lineKeeper: absent('lineKeeper'),
    door: absent('door'),
    runLog: absent('runLog'),
    postWebhook: absent('postWebhook'),
    counter: memoryCounters(),
    hasher: absent('hasher'),
    background: absent('background'),
    log: absent('log'),
    ...parts,
    config: { ...CONFIG, ...config },
  }
}

/** An object of the platform that takes every call, for tests that look elsewhere. */
export const silent = {
  arm: async () => {},
  wake: async () => {},
  disconnect: async () => {},
  tellAccount: async () => {},
  tellServer: async () => {},
  tellLine: async () => {},
}

// biome-ignore lint/suspicious/noExplicitAny: it stands for any type, and must never be used
function absent(name: string): any {
  return new Proxy(() => {}, {
    get: () => absent(name),
    apply: () => {
      throw new Error(`This test has no ${name}.`)
    },
  })
}
