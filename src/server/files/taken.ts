import type { FileFolderRow } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { inText } from '../../domain/file-names.ts'
import type { Bucket } from '../ports/bucket.ts'
import { keyOf } from './folder.ts'

/**
 * A bucket takes any names, but on the disk of a machine a name is either a file or a folder: the other would be out
 * of reach there.
 * @throws invalid
 */
export async function refuseFileAsFolder(bucket: Bucket, folder: FileFolderRow, path: string): Promise<void> {
  const names = path.split('/')
  const above = names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'))
  const found = await Promise.all(above.map((name) => bucket.find(keyOf(folder, name))))
  const file = above.find((_, index) => found[index])
  if (file)
    throw new AppError('invalid', `${inText(file)} is a file, not a folder. Choose another folder.`, { field: 'path' })
}

/** As above, for a file that may replace another file. @throws invalid */
export async function refuseFolderAsFile(bucket: Bucket, folder: FileFolderRow, path: string): Promise<void> {
  if (await isFolder(bucket, keyOf(folder, path)))
    throw new AppError('invalid', `${inText(path)} is a folder, not a file. Choose another name.`, { field: 'path' })
}

async function isFolder(bucket: Bucket, key: string): Promise<boolean> {
  return (await bucket.list({ prefix: `${key}/`, most: 1 })).files.length > 0
}
