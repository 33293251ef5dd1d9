import { sizeText } from '../../domain/files.ts'
import type { UnfinishedUpload } from '../../domain/wire/files.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'

/** Uploads that were interrupted before this page was opened. Choosing the same file again continues them. */
export function Unfinished({ uploads, csrfToken }: { uploads: UnfinishedUpload[]; csrfToken: string }) {
  if (uploads.length === 0) return null
  return (
    <details className="card deleted no-print">
      <summary>{`Unfinished uploads (${uploads.length})`}</summary>
      <p className="hint">
        To continue one, upload the same file to the same folder. What has arrived isn't sent again.
      </p>
      <ul className="stack">
        {uploads.map(({ id, path, size, expires_at }) => (
          <li key={id}>
            <bdi>{path}</bdi>
            <span className="hint">
              {sizeText(size)}, kept until <Time at={expires_at} />
            </span>
            <form method="post" action={`/api/v1/files/uploads/${id}`}>
              <HiddenFields csrfToken={csrfToken} method="delete" />
              <Button type="submit" small aria-label={`Discard ${path}`}>
                Discard
              </Button>
            </form>
          </li>
        ))}
      </ul>
    </details>
  )
}
