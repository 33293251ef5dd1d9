export type Edits = {
  /** Call it once the form is sent: its current values no longer count as edits. */
  settle: () => void
  release: () => void
}

/**
 * Makes the browser ask before the user leaves with edits. It listens only then: a listener keeps some browsers from
 * restoring the page. Passwords don't count, because a password manager fills them in.
 */
export function watchEdits(form: HTMLFormElement): Edits {
  const read = () => JSON.stringify([...new FormData(form)].filter(([name]) => !/password/.test(name)))
  let sent = read()
  const ask = (event: BeforeUnloadEvent) => event.preventDefault()
  const release = () => removeEventListener('beforeunload', ask)
  form.addEventListener('input', () => {
    release()
    if (read() !== sent) addEventListener('beforeunload', ask)
  })
  const settle = () => {
    release()
    sent = read()
  }
  return { settle, release }
}
