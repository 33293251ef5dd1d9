import { AppError } from '../../domain/error.ts'
import { isAddressable } from '../../domain/file-keys.ts'
import { nameOf } from '../../domain/file-names.ts'
import { FILE_NOT_FOUND } from '../../domain/files.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { findFolder, keyOf, requireBucket, requirePath } from './folder.ts'
import { isGoing, openRemovals } from './removals.ts'

const LINK_SECONDS = 60

/**
 * A link to one file, valid for a minute. It opens on the bucket's origin, as a download.
 * @throws invalid, not_found, too_many, unaddressable, unavailable
 */
export async function linkToFile(ctx: Context, userId: string, given: string): Promise<string> {
  const path = requirePath(given)
  // We can only find a path with dots by listing its folder.
  await limitPerson(ctx, isAddressable(path) ? 'files_open' : 'files_list', userId)
  const bucket = requireBucket(ctx)
  const folder = await findFolder(ctx, userId)
  if (!folder) throw new AppError('not_found', FILE_NOT_FOUND)
  const key = keyOf(folder, path)
  const [found, removals] = await Promise.all([bucket.find(key), openRemovals(ctx, userId)])
  if (!found || isGoing(removals, path, found.modifiedAt)) throw new AppError('not_found', FILE_NOT_FOUND)
  if (!isAddressable(path)) throw unaddressable(ctx, key)
  return bucket.signDownload(key, { seconds: LINK_SECONDS, fileName: nameOf(path) || 'file' })
}

/** Browsers would turn its address into another file's. */
function unaddressable(ctx: Pick<Context, 'config'>, key: string): AppError {
  const name = ctx.config.files?.bucket ?? ''
  return new AppError(
    'unaddressable',
    `No link can lead to this file: its path has "." or ".." as a folder or name. With the profile that "proving-ground files config" prints, this command fetches it: aws s3api get-object --profile proving-ground --bucket ${name} --key ${quoted(key)} file`,
  )
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bash writes them in $'…'
  if (!/[\u0000-\u001f\u007f]/.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  const escaped = text.replace(/[\\']/g, String.raw`\$&`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
  return `$'${escaped.replace(/[\u0000-\u001f\u007f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`
}
