import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { userId, users } from './accounts.ts'

/** Someone's private folder in the bucket, and what we last counted there. */
export const fileFolders = sqliteTable(
  'file_folders',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** What all of its keys begin with: random, and the same forever. */
    prefix: text().notNull().unique(),
    createdAt: integer('created_at').notNull(),
    /** As of `countedAt`, from the bucket. */
    usedBytes: integer('used_bytes').notNull().default(0),
    usedFiles: integer('used_files').notNull().default(0),
    /** Parts of uploads that programs have begun but not finished. */
    partsBytes: integer('parts_bytes').notNull().default(0),
    /** When the last full count began; null: never. */
    countedAt: integer('counted_at'),
    /** Until then, something may write: a link, credentials, or a run. An earlier count is out of date. */
    openUntil: integer('open_until').notNull().default(0),
    /** A count of many pages that is under way: since when, where it continues, and its sums. */
    countBegunAt: integer('count_begun_at'),
    countNext: text('count_next'),
    /** The key after which it begins, and ends once around; null: before all keys. */
    countFrom: text('count_from'),
    countBytes: integer('count_bytes').notNull().default(0),
    countFiles: integer('count_files').notNull().default(0),
    /** When a trigger counts next; null: nothing has changed. */
    countDueAt: integer('count_due_at'),
    /** Failed tries of a trigger since the last one that worked. */
    countFailures: integer('count_failures').notNull().default(0),
    /** How full we last said it is, in percent: 0, 80, or 100. */
    toldPercent: integer('told_percent').notNull().default(0),
    /** Without a plan: when we delete everything. */
    deleteAt: integer('delete_at'),
    /** Over the limit: when we delete the newest files, and how many days the last email about it gave. */
    overDeleteAt: integer('over_delete_at'),
    overTold: integer('over_told'),
    /** When we next check whether they still have a plan. */
    lookAt: integer('look_at').notNull().default(0),
  },
  (t) => [index('file_folders_by_count').on(t.countDueAt), index('file_folders_by_look').on(t.lookAt)],
)
export type FileFolderRow = typeof fileFolders.$inferSelect

/** Uploads that we let begin. Each counts against the limit until it ends; `uploadId` is the bucket's, for multipart uploads. */
export const fileUploads = sqliteTable(
  'file_uploads',
  {
    id: text().primaryKey(),
    userId: userId(),
    path: text().notNull(),
    size: integer().notNull(),
    uploadId: text('upload_id'),
    /** For a multipart upload: changes with the file, so that only the same file continues it. */
    version: text(),
    /** The etag of what was there when it began; null: nothing was. */
    replaces: text(),
    /** What it counts against the limit: its size, or for a link, how much larger it is than the file it replaces. */
    counts: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Its file has arrived. It counts until a count that began later. */
    endedAt: integer('ended_at'),
  },
  (t) => [index('file_uploads_by_user').on(t.userId), index('file_uploads_by_end').on(t.expiresAt)],
)
export type FileUploadRow = typeof fileUploads.$inferSelect

/** A deletion, for good, of everything below a place in someone's folder that was there when we accepted it. */
export const fileRemovals = sqliteTable(
  'file_removals',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** Below the folder's prefix: `files/runs/`, or empty for all of it. */
    place: text().notNull(),
    /** By the bucket's clock. Anything written later stays. */
    acceptedAt: integer('accepted_at').notNull(),
    /** When a trigger continues. Postponed while one works, and further each time it fails. */
    nextAt: integer('next_at').notNull(),
    failures: integer().notNull().default(0),
    /** At least this many are left, as of the last look. */
    filesLeft: integer('files_left').notNull().default(0),
    /** The first key that the last round removed. */
    removedKey: text('removed_key'),
    doneAt: integer('done_at'),
    /** A key that is still there although the bucket said that it removed it: we gave up. */
    stuckKey: text('stuck_key'),
  },
  (t) => [
    index('file_removals_by_user').on(t.userId, t.acceptedAt),
    uniqueIndex('file_removals_open').on(t.userId, t.place).where(sql`done_at IS NULL`),
    index('file_removals_due').on(t.nextAt).where(sql`done_at IS NULL`),
  ],
)
export type FileRemovalRow = typeof fileRemovals.$inferSelect
