import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'

type WranglerConfig = {
  compatibility_date: string
  compatibility_flags: string[]
  assets: { run_worker_first: string[] }
  triggers: { crons: string[] }
  durable_objects: { bindings: { name: string; class_name: string }[] }
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: 10 | 60 } }[]
  env: Record<string, Environment>
}

/** An environment of a deployment, as someone wrote it: nothing has checked it. */
export type Environment = {
  vars: Record<string, unknown>
  secrets?: { required?: string[] }
  routes?: ({ pattern: string; custom_domain?: boolean; zone_name?: string } | string)[]
  durable_objects?: { bindings: { name: string; class_name: string }[] }
  send_email?: { name: string }[]
  ratelimits?: { name: string }[]
  vpc_networks?: { binding: string; tunnel_id?: string }[]
}

function readConfig(file: string | URL = new URL('../wrangler.toml', import.meta.url)): WranglerConfig {
  const text = readFileSync(file, 'utf8')
  try {
    return parse(text) as unknown as WranglerConfig
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const why = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '')
    throw new Error(`wrangler.toml, line ${error.line}: ${why}. A text of several lines stands between """.`)
  }
}

/** Matches the schedules in `wrangler.toml` that fire every minute, or every minute of the hour but one. */
export const everyMinute = (cron: string) => /^(\*|0-58|1-59) \* \* \* \*$/.test(cron)

/** What the local stack uses from the deployment's configuration. */
export function readWranglerConfig() {
  const config = readConfig()
  return {
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    crons: config.triggers.crons,
    workerFirst: config.assets.run_worker_first,
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map((binding) => [
        binding.name,
        { className: binding.class_name, useSQLite: true },
      ]),
    ),
    rateLimits: Object.fromEntries(config.ratelimits.map(({ name, ...limit }) => [name, limit])),
  }
}

/** The wrangler.toml that wrangler will read: the top level, and its environments. */
export const readDeployment = (): Pick<WranglerConfig, 'env'> & Partial<Environment> => readConfig('wrangler.toml')
