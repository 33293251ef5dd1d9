import type { Env } from './env.ts'

/** Where customers' files are. */
export type BucketSettings = {
  /** The S3 endpoint, without a slash at its end. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The STS that issues temporary credentials; null: it's R2, whose credentials we sign ourselves. */
  stsUrl: string | null
}

const NEEDED = ['FILES_BUCKET', 'FILES_ACCESS_KEY_ID', 'FILES_SECRET_ACCESS_KEY'] as const satisfies (keyof Env)[]

/** A sentence for each setting that the endpoint needs. */
export function faultsOfBucket(settings: { [Name in keyof Env]?: unknown }) {
  if (settings.FILES_ENDPOINT === undefined) return []
  const isAws = String(settings.FILES_ENDPOINT).includes('.amazonaws.com')
  return [...NEEDED, ...(isAws ? (['FILES_STS_URL'] as const) : [])]
    .filter((name) => settings[name] === undefined)
    .map((name) => ({ setting: 'FILES_ENDPOINT' as const, sentence: `FILES_ENDPOINT needs ${name}.` }))
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
    stsUrl: env.FILES_STS_URL ?? null,
  }
}
