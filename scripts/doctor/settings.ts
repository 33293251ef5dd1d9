import { faultsOf } from '../../src/server/settings/settings.ts'
import type { Settings } from '../environment.ts'
import { type Finding, fail, ok, skip } from './check.ts'

/** Settings that the Worker itself refuses, and those it would accept but shouldn't. */
export function checkSettings(settings: Settings): Finding[] {
  const found = faultsOf(settings).map(({ sentence, missing }) =>
    fail(
      'settings',
      missing
        ? `${sentence} Put it into the file of secrets, or into wrangler.toml if everyone may read it. Then deploy.`
        : `${sentence} Change it in wrangler.toml or in the file of secrets. Then deploy.`,
    ),
  )
  const { PASSWORD_PEPPER: pepper = '', SECRET_KEY: key = '', SITE_ORIGINS: origins = '' } = settings
  if (pepper.split(',').some((one) => one.length > 0 && one.length < 32))
    found.push(fail('settings', 'PASSWORD_PEPPER should have 32 random characters. Rotate it: set "new,old".'))
  if (pepper.split(',').some((one) => one && key.split(',').includes(one)))
    found.push(fail('settings', 'PASSWORD_PEPPER and SECRET_KEY share a value. Give each its own random value.'))
  if (/^A[KS]IA[A-Z0-9]{16}$/.test(settings.AWS_SECRET_ACCESS_KEY ?? ''))
    found.push(fail('settings', "AWS_SECRET_ACCESS_KEY is an access key's ID. Set the secret that belongs to it."))
  if (origins.split(',').some((origin) => /^\s*http:\/\/(?!localhost|127\.)/.test(origin)))
    found.push(
      fail('settings', 'SITE_ORIGINS has an http:// origin. Browsers send passwords there unencrypted. Use https://.'),
    )
  const asks = settings.SECURITY_CONTACT
    ? []
    : [
        skip(
          'settings',
          'SECURITY_CONTACT is missing, so security.txt names the help page. Set an address that you read.',
        ),
      ]
  return [...(found.length ? found : [ok('settings', 'every setting is valid')]), ...asks]
}
