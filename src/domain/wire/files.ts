import * as z from 'zod/mini'
import { instant, size } from './fields.ts'

/** One page of a folder of someone's files. */
export const fileList = z.object({
  path: z.string(),
  folders: z.array(z.object({ name: z.string() })),
  /** `unaddressable`: its path has a segment `.` or `..`, so no link can lead to it. */
  files: z.array(
    z.object({ name: z.string(), size, modified_at: instant, unaddressable: z.optional(z.literal(true)) }),
  ),
  /** Folders that are being deleted: nothing below them is listed. At least so many files are left. */
  deleting: z.array(z.object({ path: z.string(), files_left: z.int() })),
  /** What `after` must be for the next page; null on the last. */
  next: z.nullable(z.string()),
  /** Which servers have them at /data: `until_exit` are those that end with their program. */
  on_servers: z.enum(['all', 'until_exit', 'none']),
  used_bytes: size,
  /** Null: unlimited. */
  limit_bytes: z.nullable(size),
  /** When we counted `used_bytes` in the bucket; null: the first count isn't over. */
  counted_at: z.nullable(instant),
})
export type FileList = z.infer<typeof fileList>

/** Where to send a file: these headers, and as many bytes as were promised. */
export const fileUpload = z.object({
  path: z.string(),
  url: z.string(),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
  expires_at: instant,
})
export type FileUpload = z.infer<typeof fileUpload>

/** A file that travels in parts. `done` are those that the bucket has; parts count from 1. */
export const partsUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  /** The length of each part but the last. */
  part_size: size,
  parts: z.int(),
  done: z.array(z.int()),
  expires_at: instant,
})
export type PartsUpload = z.infer<typeof partsUpload>

/** Where to send parts: these headers, and as many bytes as `size` says. */
export const partLinks = z.object({
  parts: z.array(
    z.object({
      part: z.int(),
      size,
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()),
    }),
  ),
  expires_at: instant,
})
export type PartLinks = z.infer<typeof partLinks>

/** An upload in parts that can continue with the same file. */
export const unfinishedUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  version: z.string(),
  created_at: instant,
  expires_at: instant,
})
export type UnfinishedUpload = z.infer<typeof unfinishedUpload>

/** What any S3 tool needs to use someone's files, and until when. */
export const filesAccess = z.object({
  access_key_id: z.string(),
  secret_access_key: z.string(),
  session_token: z.string(),
  expires_at: instant,
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  /** Every key of theirs begins with it, and no other is allowed. */
  prefix: z.string(),
  mode: z.enum(['read', 'write']),
})
export type FilesAccess = z.infer<typeof filesAccess>

/** What a folder has; not `complete`: at least. */
export const folderSize = z.object({
  path: z.string(),
  files: z.int(),
  bytes: size,
  complete: z.boolean(),
})
export type FolderSize = z.infer<typeof folderSize>
