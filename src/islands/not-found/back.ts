type Steps = { canGoBack: boolean }

/** Whether one came from a page of ours, by a link or by typing the address: the browser tells only of ours. */
function cameFromHere(): boolean {
  if ('navigation' in window) return (window.navigation as Steps).canGoBack
  return history.length > 1 && document.referrer.startsWith(`${location.origin}/`)
}

/** Where the browser knows the way back, Go Back takes it: scroll position and all. Otherwise the link's own address stands. */
export function mount(link: HTMLElement): void {
  link.addEventListener('click', (event) => {
    if (!cameFromHere()) return
    event.preventDefault()
    history.back()
  })
}
