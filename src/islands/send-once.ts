/** As long as our scripts wait for an answer. */
const ANSWERED_MS = 20_000

let sent = new WeakSet<HTMLFormElement>()

/** Keeps a second click from sending a form again: its answer would hide the first one, such as a new token. */
export function sendOnce(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    // Islands send their forms themselves, and a search may be repeated.
    if (event.defaultPrevented || form.getAttribute('method') !== 'post') return
    if (sent.has(form)) return event.preventDefault()
    sent.add(form)
    // The answer may be a file, or never come.
    setTimeout(() => sent.delete(form), ANSWERED_MS)
  })
  // Back from the browser's cache, the form may be sent again.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) sent = new WeakSet()
  })
}
