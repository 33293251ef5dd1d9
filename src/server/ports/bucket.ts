export type StoredFile = {
  key: string
  size: number
  /** ms since 1970, by the bucket's clock */
  modifiedAt: number
  /** Changes with the content. */
  etag: string
}

type SignedUpload = { url: string; method: 'PUT'; headers: Record<string, string>; expiresAt: number }

export type BegunUpload = { key: string; uploadId: string; begunAt: number }
export type UploadMarker = Pick<BegunUpload, 'key' | 'uploadId'>

export type Part = { part: number; size: number; etag: string }

/** What a program may do with an account's folder, and until when. */
export type TemporaryCredentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string
  expiresAt: number
}

export type CredentialsMode = 'read' | 'write'

/**
 * Keeps customers' bytes. Every call may throw an `AppError` 'unavailable': the outcome is unknown, or the bucket is
 * busy. Every call is safe to repeat.
 */
export type Bucket = {
  /**
   * Up to 1,000 files whose key begins with `prefix`, in the order of their keys.
   * @param delimiter returns keys that contain it after the prefix only once, as `prefixes`
   * @param after the `next` of the previous page
   * @param startAfter a key, instead of `after`
   * @returns also `at`: when it answered, by the clock that `modifiedAt` uses; and how many files aren't in the
   * standard storage class
   */
  list(wanted: {
    prefix: string
    delimiter?: '/'
    after?: string | null
    startAfter?: string
    most?: number
  }): Promise<{ files: StoredFile[]; prefixes: string[]; next: string | null; at: number; otherClass: number }>
  find(key: string): Promise<StoredFile | null>
  /** Up to 1,000: one call, plus one for each key that XML can't hold. */
  remove(keys: string[]): Promise<void>

  /** @param fileName the browser saves it under this name */
  signDownload(key: string, options: { seconds: number; fileName: string }): Promise<string>
  /**
   * A link that takes exactly this many bytes of this type, once.
   * @param replaces the etag of what is there now; null: nothing may be
   */
  signUpload(
    key: string,
    options: { seconds: number; size: number; type: string; replaces: string | null },
  ): Promise<SignedUpload>

  /** @returns the upload's id */
  startParts(key: string, type: string): Promise<string>
  signPart(
    key: string,
    uploadId: string,
    options: { part: number; size: number; seconds: number },
  ): Promise<SignedUpload>
  /** Null if the bucket has no such upload, or no longer has it. */
  listParts(key: string, uploadId: string): Promise<Part[] | null>
  /**
   * @param replaces the etag of what may be there; null: nothing may be
   * @returns false if something else is there: then nothing has changed
   */
  completeParts(key: string, uploadId: string, parts: Part[], replaces: string | null): Promise<boolean>
  abortParts(key: string, uploadId: string): Promise<void>
  /**
   * Up to 1,000 unfinished multipart uploads below `prefix`, in the order of their keys.
   * @param after the `next` of the previous page
   */
  listUploads(
    prefix: string,
    after: UploadMarker | null,
  ): Promise<{ uploads: BegunUpload[]; next: UploadMarker | null }>

  /** For keys that begin with `prefix` and no others. */
  temporaryCredentials(prefix: string, mode: CredentialsMode, seconds: number): Promise<TemporaryCredentials>
}
