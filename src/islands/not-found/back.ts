/** Where the browser knows the way back, Go Back takes it: scroll position and all. Otherwise the link's own address stands. */
export function mount(link: HTMLElement): void {
  link.addEventListener('click', (event) => {
    if (history.length < 2 || !document.referrer.startsWith(`${location.origin}/`)) return
    event.preventDefault()
    history.back()
  })
}
