type Steps = { canGoBack: boolean }

/** Whether the user came from one of our pages, by link or by address: the browser reveals only those. */
function cameFromHere(): boolean {
  if ('navigation' in window) return (window.navigation as Steps).canGoBack
  return history.length > 1 && document.referrer.startsWith(`${location.origin}/`)
}

/** Go Back uses the browser's history if it can, which keeps the scroll position. Otherwise it is a plain link. */
export function mount(link: HTMLElement): void {
  link.addEventListener('click', (event) => {
    if (!cameFromHere()) return
    event.preventDefault()
    history.back()
  })
}
