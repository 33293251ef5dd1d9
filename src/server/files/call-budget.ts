import { removalOf } from '../../domain/file-keys.ts'
import type { Bucket } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { requireBucket } from './folder.ts'

/**
 * For one task of a trigger. One account's turn takes 4,000 at most: a repeated count looks at multipart uploads four
 * times. wrangler.toml allows an invocation all of them together.
 */
const MOST_CALLS = 5_000

/**
 * Counts a task's calls to the bucket. A task that has spent its budget starts no further turn, so that expensive
 * accounts leave enough for the rest of the trigger: Cloudflare fails every call beyond an invocation's limit, even to
 * the database.
 */
export function meterCalls(ctx: Context): { ctx: Context; isSpent: () => boolean } {
  const bucket = requireBucket(ctx)
  let calls = 0
  const meter =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    (...given: Given) => {
      calls++
      return call(...given)
    }
  const metered: Bucket = {
    ...bucket,
    list: meter(bucket.list),
    find: meter(bucket.find),
    abortParts: meter(bucket.abortParts),
    listUploads: meter(bucket.listUploads),
    remove: (keys) => {
      calls += callsFor(keys)
      return bucket.remove(keys)
    },
    async listParts(key, uploadId) {
      const parts = await bucket.listParts(key, uploadId)
      calls += pagesOf(parts?.length ?? 0)
      return parts
    },
  }
  return { ctx: { ...ctx, bucket: metered }, isSpent: () => calls >= MOST_CALLS }
}

/** How many calls it takes to remove these. */
export function callsFor(keys: string[]): number {
  const alone = keys.filter((key) => removalOf(key) === 'alone').length
  return alone + (keys.length > alone ? 1 : 0)
}

/** How many calls it takes to list so many parts. */
export const pagesOf = (parts: number) => Math.max(1, Math.ceil(parts / 1000))
