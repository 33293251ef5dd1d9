import type { Store } from '../stand-in/store.ts'

type Upload = { key: string; begunAt: number; parts: Record<string, { size: number; etag: string }> }

/** Uploads per answer. */
const PAGE = 1000

/** Which parts of an upload arrived. Miniflare's bucket knows but doesn't list them. */
export class Uploads {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  begin(id: string, key: string, begunAt: number): void {
    this.#save(id, { key, begunAt, parts: {} })
  }

  /** S3's answer with a page of the uploads begun below a prefix, after a key and ID. */
  listBelow(prefix: string, after: { key: string; id: string }): string {
    const orderOf = (key: string, id: string) => `${key}\0${id}`
    const left = this.#store
      .entries<Upload>('uploads')
      .map(([id, { key, begunAt }]) => ({ id, key, begunAt, order: orderOf(key, id) }))
      .filter(({ key, order }) => key.startsWith(prefix) && order > orderOf(after.key, after.id))
      .sort((a, b) => (a.order < b.order ? -1 : 1))
    const page = left.slice(0, PAGE)
    const inner = page.map(
      ({ id, key, begunAt }) =>
        `<Upload><Key>${encodeURIComponent(key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date(begunAt ?? 0).toISOString()}</Initiated></Upload>`,
    )
    const last = page.at(-1)
    const next =
      last && left.length > PAGE
        ? `<IsTruncated>true</IsTruncated><NextKeyMarker>${encodeURIComponent(last.key)}</NextKeyMarker><NextUploadIdMarker>${last.id}</NextUploadIdMarker>`
        : '<IsTruncated>false</IsTruncated>'
    return `<?xml version="1.0" encoding="UTF-8"?><ListMultipartUploadsResult>${next}${inner.join('')}</ListMultipartUploadsResult>`
  }

  /** Read and written without a pause in between, so parts may arrive at once. */
  addPart(id: string, part: string, size: number, etag: string): void {
    const upload = this.#find(id)
    if (upload) this.#save(id, { ...upload, parts: { ...upload.parts, [part]: { size, etag } } })
  }

  end(id: string): void {
    if (!this.#find(id)) return
    this.#store.remove('uploads', id)
    this.#store.commit()
  }

  /** S3's answer, in one page. Null if there is no such upload. */
  list(id: string, key: string): string | null {
    const upload = this.#find(id)
    if (upload?.key !== key) return null
    const parts = Object.entries(upload.parts).sort(([a], [b]) => Number(a) - Number(b))
    const inner = parts.map(
      ([part, { size, etag }]) =>
        `<Part><PartNumber>${part}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${size}</Size></Part>`,
    )
    return `<?xml version="1.0" encoding="UTF-8"?><ListPartsResult><UploadId>${id}</UploadId><IsTruncated>false</IsTruncated>${inner.join('')}</ListPartsResult>`
  }

  #find(id: string): Upload | undefined {
    return this.#store.get<Upload>('uploads', id)
  }

  #save(id: string, upload: Upload): void {
    this.#store.put('uploads', id, upload)
    this.#store.commit()
  }
}
