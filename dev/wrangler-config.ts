import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'

type WranglerConfig = {
  compatibility_date: string
  assets: { run_worker_first: string[] }
  triggers: { crons: string[] }
  durable_objects: { bindings: { name: string; class_name: string }[] }
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: 10 | 60 } }[]
  env: Record<string, { vars: Record<string, string>; secrets: { required: string[] } }>
}

function readConfig(file: string | URL = new URL('../wrangler.toml', import.meta.url)): WranglerConfig {
  return parse(readFileSync(file, 'utf8')) as unknown as WranglerConfig
}

/** Matches the schedules in `wrangler.toml` that fire every minute, or every minute of the hour but one. */
export const everyMinute = (cron: string) => /^(\*|0-58|1-59) \* \* \* \*$/.test(cron)

/** What the local stack uses from the deployment's configuration. */
export function readWranglerConfig() {
  const config = readConfig()
  return {
    compatibilityDate: config.compatibility_date,
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

/** What an environment sets, according to the wrangler.toml that wrangler will read. */
export const readVars = (environment: string): Record<string, string> =>
  readConfig('wrangler.toml').env[environment]?.vars ?? {}
