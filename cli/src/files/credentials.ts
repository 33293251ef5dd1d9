import type { FilesAccess } from '../../../src/domain/wire/files.ts'
import { call, type Patience } from '../api.ts'
import { currentSite, type Site, type SiteOptions } from '../site.ts'
import { note, say, sayJson, timeText } from '../terminal.ts'

/**
 * Programs renew them this much earlier, so that none expires in use. No more than that: AWS's ask again from 15
 * minutes before this, at each request, and the site has newer ones only from 15 minutes before the end.
 */
const EARLIER_MS = 5_000

export type Mode = FilesAccess['mode']
export const FORMATS = ['env', 'json', 'process'] as const
type Options = SiteOptions & { read?: true; format: (typeof FORMATS)[number] }

export const requestCredentials = async (site: Site, mode: Mode, patience?: Patience): Promise<FilesAccess> =>
  (await call(site, (client) => client.POST('/api/v1/files/credentials', { body: { mode } }), patience)).credentials

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html */
export const processFormat = ({ access_key_id, secret_access_key, session_token, expires_at }: FilesAccess) => ({
  Version: 1,
  AccessKeyId: access_key_id,
  SecretAccessKey: secret_access_key,
  SessionToken: session_token,
  Expiration: new Date(Date.parse(expires_at) - EARLIER_MS).toISOString(),
})

/** What rclone calls the bucket's provider. */
export function providerOf({ endpoint }: FilesAccess): string {
  const { hostname } = new URL(endpoint)
  if (hostname.endsWith('.r2.cloudflarestorage.com')) return 'Cloudflare'
  return hostname.endsWith('.amazonaws.com') ? 'AWS' : 'Other'
}

export async function credentials({ read, format, ...options }: Options): Promise<void> {
  // Nobody sees its output, and programs give up on it after a minute.
  const patience = format === 'process' ? { until: Date.now() } : {}
  const given = await requestCredentials(currentSite(options), read ? 'read' : 'write', patience)
  const { access_key_id, secret_access_key, session_token, endpoint, region, bucket, prefix, expires_at } = given
  if (format === 'process') return sayJson(processFormat(given))
  if (format === 'json') return sayJson(given)
  const keys = { access_key_id, secret_access_key, session_token }
  say(
    [
      ...Object.entries(keys).map(([name, value]) => `export AWS_${name.toUpperCase()}='${value}'`),
      `export AWS_REGION='${region}'`,
      `export AWS_ENDPOINT_URL_S3='${endpoint}'`,
      `export FILES='s3://${bucket}/${prefix}'`,
    ].join('\n'),
  )
  note(`They work until ${timeText(expires_at)}, for your files only.`)
}

/** A profile for AWS's programs that renews its own credentials, and rclone's remote, which uses it. */
export async function config(options: SiteOptions): Promise<void> {
  const site = currentSite(options)
  const access = await requestCredentials(site, 'read')
  const { endpoint, region, bucket, prefix } = access
  const words = [process.execPath, process.argv[1] ?? '', '--base-url', site.url]
  const command = `${words.map((word) => `"${word}"`).join(' ')} files credentials --format process`
  say(
    [
      `# In ~/.aws/config. Then: aws --profile proving-ground s3 ls s3://${bucket}/${prefix}`,
      '[profile proving-ground]',
      `credential_process = ${command}`,
      `region = ${region}`,
      `endpoint_url = ${endpoint}`,
      '',
      "# In rclone's file, which `rclone config file` names, beside the profile above. Then: rclone lsl files:",
      '[proving-ground]',
      'type = s3',
      `provider = ${providerOf(access)}`,
      'env_auth = true',
      'profile = proving-ground',
      `region = ${region}`,
      `endpoint = ${endpoint}`,
      'no_check_bucket = true',
      'list_version = 2',
      'list_url_encode = true',
      '',
      '[files]',
      'type = alias',
      `remote = proving-ground:${bucket}/${prefix.replace(/\/$/, '')}`,
    ].join('\n'),
  )
}
