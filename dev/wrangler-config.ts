import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'

type WranglerConfig = {
  compatibility_date: string
  triggers: { crons: string[] }
  durable_objects: { bindings: { name: string; class_name: string }[] }
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: 10 | 60 } }[]
}

/** Matches the schedules in `wrangler.toml` that fire every minute, or every minute of the hour but one. */
export const everyMinute = (cron: string) => /^(\*|0-58|1-59) \* \* \* \*$/.test(cron)

/** What the local stack uses from the deployment's configuration. */
export function readWranglerConfig() {
  const text = readFileSync(new URL('../wrangler.toml', import.meta.url), 'utf8')
  const config = parse(text) as unknown as WranglerConfig
  return {
    compatibilityDate: config.compatibility_date,
    crons: config.triggers.crons,
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map((binding) => [
        binding.name,
        { className: binding.class_name, useSQLite: true },
      ]),
    ),
    rateLimits: Object.fromEntries(config.ratelimits.map(({ name, ...limit }) => [name, limit])),
  }
}
