import { faultsOf } from '../../src/server/settings.ts'
import { type Finding, fail, ok, type Settings } from './check.ts'

/** Settings that the Worker itself refuses, and those it would accept but shouldn't. */
export function checkSettings(settings: Settings): Finding[] {
  const found = faultsOf(settings).map((sentence) =>
    fail('settings', `${sentence} Change it in wrangler.toml or with "npx wrangler secret put".`),
  )
  const { PASSWORD_PEPPER: pepper = '', SECRET_KEY: key = '', SITE_ORIGINS: origins = '' } = settings
  if (pepper.split(',').some((one) => one.length > 0 && one.length < 32))
    found.push(fail('settings', 'PASSWORD_PEPPER should have 32 random characters. Rotate it: set "new,old".'))
  if (pepper && pepper === key)
    found.push(fail('settings', 'PASSWORD_PEPPER equals SECRET_KEY. Give each its own random value.'))
  if (origins.split(',').some((origin) => /^\s*http:\/\/(?!localhost|127\.)/.test(origin)))
    found.push(
      fail('settings', 'SITE_ORIGINS has an http:// origin. Browsers send passwords there unencrypted. Use https://.'),
    )
  return found.length ? found : [ok('settings', 'every setting is valid')]
}
