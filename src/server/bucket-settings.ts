import type { Env } from './env.ts'

/** Where customers' files are. */
export type BucketSettings = {
  /** The S3 endpoint, without a slash at its end. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Who issues temporary credentials. */
  credentialsUrl: string
  /** Null: `credentialsUrl` is an STS endpoint. */
  credentialsToken: string | null
}

const NEEDED = [
  'FILES_BUCKET',
  'FILES_ACCESS_KEY_ID',
  'FILES_SECRET_ACCESS_KEY',
  'FILES_CREDENTIALS_URL',
] as const satisfies (keyof Env)[]

/** A sentence for each setting that the endpoint needs. */
export function faultsOfBucket(settings: { [Name in keyof Env]?: unknown }): string[] {
  if (settings.FILES_ENDPOINT === undefined) return []
  return NEEDED.filter((name) => settings[name] === undefined).map((name) => `FILES_ENDPOINT needs ${name}.`)
}

/** From settings without faults. Null: there are no files. */
export function bucketSettingsOf(env: Env): BucketSettings | null {
  if (!env.FILES_ENDPOINT) return null
  return {
    endpoint: env.FILES_ENDPOINT.replace(/\/$/, ''),
    bucket: env.FILES_BUCKET ?? '',
    region: env.FILES_REGION ?? 'auto',
    accessKeyId: env.FILES_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.FILES_SECRET_ACCESS_KEY ?? '',
    credentialsUrl: env.FILES_CREDENTIALS_URL ?? '',
    credentialsToken: env.FILES_CREDENTIALS_TOKEN ?? null,
  }
}
