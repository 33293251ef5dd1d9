import type { FileDeletion } from '../../domain/wire.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'

type Props = {
  deletions: FileDeletion[]
  csrfToken: string
  /** Without script, a form does it. */
  onUndo: ((id: string) => void) | null
}

/** What can be taken back for some days. */
export function Deleted({ deletions, csrfToken, onUndo }: Props) {
  if (deletions.length === 0) return null
  return (
    <details className="card deleted no-print">
      <summary>{`Recently deleted (${deletions.length})`}</summary>
      <ul className="stack">
        {deletions.map(({ id, path, undo_until }) => (
          <li key={id}>
            <bdi>{path}</bdi>
            <span className="hint">
              Gone for good after <Time at={undo_until} />
            </span>
            <form
              method="post"
              action={`/api/v1/files/deletions/${id}/undo`}
              onSubmit={(event) => {
                if (!onUndo) return
                event.preventDefault()
                onUndo(id)
              }}
            >
              <HiddenFields csrfToken={csrfToken} />
              <Button type="submit" small aria-label={`Restore ${path}`}>
                Restore
              </Button>
            </form>
          </li>
        ))}
      </ul>
    </details>
  )
}
