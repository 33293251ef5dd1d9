import { readBootstrapUser } from '../../domain/user-state.ts'
import { announce } from '../announce.ts'
import { followJobs } from '../jobs-channel.ts'
import { showLocalTimes } from '../local-times.ts'

/** Its time and cost grow, so we reread them this often while someone is looking. */
const EVERY_MS = 15_000
const TIMEOUT_MS = 10_000

/** Keeps a live run's page up to date until the run has ended. The server renders it; we exchange what changed. */
export function followRun(runId: string): void {
  const userId = readBootstrapUser(document.getElementById('bootstrap')?.textContent)?.id
  if (!userId) return
  let reading = false
  let again = false

  async function read(): Promise<void> {
    again = reading
    if (reading) return
    reading = true
    try {
      const answer = await fetch(location.pathname + location.search, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      // Signed out, or an error: the page stays as it was, and says when that was.
      if (answer.ok && !answer.redirected) show(await answer.text())
    } catch {
      // No answer: the next event or interval tries again.
    } finally {
      reading = false
    }
    if (again) await read()
  }

  function show(html: string): void {
    const fresh = new DOMParser().parseFromString(html, 'text/html')
    showLocalTimes(fresh)
    const before = statusText(document)
    for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
      const next = fresh.querySelector(`[data-live=${part.dataset.live}]`)
      if (next) exchange(part, next)
    }
    const after = statusText(document)
    if (after !== before) announce(`Server ${after}.`)
    if (!fresh.querySelector('[data-follow]')) stop()
  }

  const ofThisRun = (server: { id: string } | null) => {
    if (server?.id === runId) void read()
  }
  const unfollow = followJobs(userId, {
    onJob: ({ server }) => ofThisRun(server),
    onServer: ofThisRun,
    onNews: () => void read(),
    onConnection: () => {},
  })
  const look = () => {
    if (!document.hidden) void read()
  }
  const timer = setInterval(look, EVERY_MS)
  document.addEventListener('visibilitychange', look)

  function stop(): void {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
    unfollow()
  }
}

const statusText = (page: Document) => page.querySelector('[data-live=head] .badge')?.textContent ?? ''

/** Replaces only what differs, so that the selection, open tables, and the focus stay. */
function exchange(part: Element, next: Element): void {
  const [old, fresh] = [[...part.children], [...next.children]]
  if (old.length !== fresh.length) {
    keepFocus(part, () => part.replaceChildren(...fresh))
    return
  }
  for (const [i, child] of old.entries()) {
    const other = fresh[i]
    if (!other || child.isEqualNode(other)) continue
    if (isSplit(child) && isSplit(other)) exchange(child, other)
    else keepFocus(part, () => child.replaceWith(other))
  }
}

/** Holds several things that change on their own. */
const isSplit = (element: Element) => element.matches('.grid, .page-head, .row')

/** If the focused element is gone, the focus moves to its replacement. */
function keepFocus(part: Element, change: () => void): void {
  // By the text of their summaries, because a new fold may come before them.
  const folds = () => [...part.querySelectorAll('details')]
  const nameOf = (fold: Element) => fold.querySelector('summary')?.textContent
  const open = new Set(folds().flatMap((fold) => (fold.open ? [nameOf(fold)] : [])))
  const held = part.contains(document.activeElement) ? document.activeElement : null
  change()
  for (const fold of folds()) fold.open = open.has(nameOf(fold))
  if (held && !held.isConnected) part.querySelector<HTMLElement>('a, button, summary')?.focus()
}
