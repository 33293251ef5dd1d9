import { type ChangeEvent, useEffect, useRef } from 'react'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { useHydrated } from '../../ui/useHydrated.ts'
import { type Picked, pickedIn } from './chosen-files.ts'

type Props = {
  path: string
  csrfToken: string
  /** Nothing can be added to files that can only be read. */
  mayAdd: boolean
  onChosen: (picked: Picked[]) => void
  onArchive: (() => void) | null
}

/** What you can do in a folder. */
export function Toolbar({ path, csrfToken, mayAdd, onChosen, onArchive }: Props) {
  const live = useHydrated()
  return (
    <>
      <div className="row no-print only-script">
        {mayAdd ? (
          <>
            <Choose label="Upload files" look="btn-primary" onChosen={onChosen} />
            <Choose label="Upload folder" folders onChosen={onChosen} />
          </>
        ) : null}
        {onArchive ? (
          <Button disabled={!live} onClick={onArchive}>
            Download all
          </Button>
        ) : null}
      </div>
      {mayAdd ? <Plain path={path} csrfToken={csrfToken} /> : null}
    </>
  )
}

/** A file input that looks like a button. Files chosen before the script loaded count as well. */
function Choose({
  label,
  look = '',
  folders = false,
  onChosen,
}: {
  label: string
  look?: string
  folders?: boolean
  onChosen: (picked: Picked[]) => void
}) {
  const ref = useRef<HTMLInputElement>(null)
  const latest = useRef(onChosen)
  latest.current = onChosen
  const take = (input: HTMLInputElement) => {
    const picked = pickedIn(input.files ?? [])
    // So that the same files can be chosen again.
    input.value = ''
    if (picked.length) latest.current(picked)
  }
  useEffect(() => {
    if (ref.current) take(ref.current)
  })
  const more = folders ? { webkitdirectory: '' } : {}
  return (
    <label className={`btn choose ${look}`}>
      {label}
      <input
        ref={ref}
        type="file"
        multiple
        {...more}
        onChange={(event: ChangeEvent<HTMLInputElement>) => take(event.target)}
      />
    </label>
  )
}

/** The same for browsers without script. */
function Plain({ path, csrfToken }: { path: string; csrfToken: string }) {
  return (
    <form
      className="row only-plain"
      method="post"
      encType="multipart/form-data"
      action={`/files?path=${encodeURIComponent(path)}`}
    >
      <HiddenFields csrfToken={csrfToken} />
      <input type="file" name="file" aria-label="File to upload" required />
      <Button type="submit" look="primary">
        Upload
      </Button>
    </form>
  )
}
