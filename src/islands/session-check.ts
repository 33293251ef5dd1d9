import { last, leave, stay } from './request.ts'

/**
 * The server tells each page who is signed in. A page from the back/forward cache may be out of date: cover it until
 * the server answers, and reload it if the user has changed.
 */
export function watchSession(): void {
  document.addEventListener('submit', ({ target }) => {
    if ((target as HTMLFormElement).action.endsWith('/users/sign_out')) leave()
  })
  document.addEventListener('click', (event) => (last.click = event), true)
  window.addEventListener('pageshow', (event) => {
    stay()
    if (!event.persisted) return
    cover(true)
    void import('./stale-page.ts').then(
      ({ checkSession }) => checkSession(cover),
      () => location.reload(),
    )
  })
}

/** A dialog would lie above the cover: it closes, without an answer. */
function cover(covered: boolean): void {
  if (covered) for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog:modal')) dialog.close()
  const veil = document.getElementById('session-check')
  if (veil) veil.hidden = !covered
}
