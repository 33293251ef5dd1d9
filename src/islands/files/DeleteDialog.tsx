import { useEffect, useRef } from 'react'
import type { FolderSize } from '../../domain/wire/files.ts'
import { Button } from '../../ui/Button.tsx'
import { shownName } from './entries.ts'
import { deleteWords } from './PlainForms.tsx'

export type Doomed = {
  name: string
  path: string
  /** What a folder contains, once we have counted; null: a file. */
  size: FolderSize | 'counting' | null
  error: string | null
  busy: boolean
}

/** Asks before deleting. If that fails, stays open and says why. */
export function DeleteDialog({ doomed, onYes, onClose }: { doomed: Doomed; onYes: () => void; onClose: () => void }) {
  const { name, path, size, error, busy } = doomed
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog ref={ref} className="card ask" aria-labelledby="ask-title" aria-describedby="ask-words" onClose={onClose}>
      <h2 id="ask-title">
        Delete <bdi>{shownName(name) + (path.endsWith('/') ? '/' : '')}</bdi>?
      </h2>
      <p id="ask-words" role="status">
        {size === 'counting' ? (error ? '' : 'Counting its files…') : deleteWords(size)}
      </p>
      {error ? (
        <p className="error" role="alert">
          {error}
        </p>
      ) : null}
      <div className="row">
        <Button onClick={() => ref.current?.close()}>Cancel</Button>
        <Button look="danger" aria-busy={busy} disabled={size === 'counting'} onClick={onYes}>
          Delete
        </Button>
      </div>
    </dialog>
  )
}
