import { useEffect, useRef } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'

export type Asked = {
  title: string
  /** The file or folder that it is about. */
  about?: string
  words: string
  /** A name to type; null: only yes or no. */
  name: { label: string; before: string } | null
  yes: string
  danger?: boolean
  /** @returns why not, or null */
  act: (name: string) => Promise<string | null>
}

/** Asks for a name, or for a yes. Stays open with the reason if it can't be. */
export function AskDialog({
  asked,
  error,
  busy,
  onAct,
  onClose,
}: {
  asked: Asked
  error: string | null
  busy: boolean
  onAct: (name: string) => void
  onClose: () => void
}) {
  const { title, about, words, name, yes, danger } = asked
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    ref.current?.showModal()
    const input = ref.current?.querySelector('input')
    // What people change is rarely the ending.
    const dot = input?.value.lastIndexOf('.') ?? -1
    input?.setSelectionRange(0, dot > 0 ? dot : input.value.length)
  }, [])
  return (
    <dialog ref={ref} className="card ask" aria-labelledby="ask-title" aria-describedby="ask-words" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onAct(String(new FormData(event.currentTarget).get('name') ?? ''))
        }}
      >
        <h2 id="ask-title">
          {title} {about === undefined ? null : <bdi>{about}</bdi>}
          {name ? '' : '?'}
        </h2>
        <p id="ask-words">{words}</p>
        {name ? (
          <Field
            name="name"
            id="ask-name"
            label={name.label}
            defaultValue={name.before}
            error={error}
            dir="auto"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        ) : error ? (
          <p className="error" role="alert">
            {error}
          </p>
        ) : null}
        <div className="row">
          <Button onClick={() => ref.current?.close()}>Cancel</Button>
          <Button type="submit" look={danger ? 'danger' : 'primary'} aria-busy={busy}>
            {yes}
          </Button>
        </div>
      </form>
    </dialog>
  )
}
