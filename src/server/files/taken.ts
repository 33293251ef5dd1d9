import type { FileFolderRow } from '../../../db/schema/files.ts'
import { AppError } from '../../domain/error.ts'
import { inText } from '../../domain/file-names.ts'
import type { Bucket } from '../ports/bucket.ts'
import { firstPage, keyOf } from './folder.ts'

/**
 * A bucket takes any names, but on a machine's disk a name is either a file or a folder, and the other one would be
 * unreachable. Every name above an existing folder is a folder, so at most 7 calls find the only name that can be a
 * file.
 * @throws invalid
 */
export async function refuseFileAsFolder(bucket: Bucket, folder: FileFolderRow, path: string): Promise<void> {
  const names = path.split('/')
  const above = names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'))
  // The folders above `from` exist; those from `to` on don't. Most uploads go to a place that exists.
  let [from, to] = [0, above.length]
  for (let look = to; from < to; look = (from + to + 1) >> 1)
    if (await isFolder(bucket, keyOf(folder, above[look - 1] as string))) from = look
    else to = look - 1
  const first = above[from]
  if (first !== undefined && (await bucket.find(keyOf(folder, first))))
    throw new AppError('invalid', `${inText(first)} is a file, not a folder. Choose another folder.`, { field: 'path' })
}

/** As above, for a file that may replace another file. @throws invalid */
export async function refuseFolderAsFile(bucket: Bucket, folder: FileFolderRow, path: string): Promise<void> {
  if (await isFolder(bucket, keyOf(folder, path)))
    throw new AppError('invalid', `${inText(path)} is a folder, not a file. Choose another name.`, { field: 'path' })
}

async function isFolder(bucket: Bucket, key: string): Promise<boolean> {
  return (await firstPage(bucket, { prefix: `${key}/`, most: 1 })).files.length > 0
}
