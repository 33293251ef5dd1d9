/** What the search needs to suggest anything loads once someone is there. */
export function addSearch(form: HTMLFormElement): void {
  const field = form.elements.namedItem('q') as HTMLInputElement
  const load = () =>
    import('./suggestions.ts')
      .then(({ suggest }) => suggest(form, field))
      // Offline, Enter still leads to the page of results once the connection is back, and the next focus tries again.
      .catch(wait)
  const wait = () => field.addEventListener('focus', load, { once: true })
  wait()
  if (document.activeElement === field) field.dispatchEvent(new Event('focus'))
}
