/** What the search needs for suggestions loads once someone focuses it. */
export function addSearch(form: HTMLFormElement): void {
  const field = form.elements.namedItem('q') as HTMLInputElement
  const load = () =>
    import('./suggestions.ts')
      .then(({ suggest }) => suggest(form, field))
      // Offline, Enter still leads to the results page once the connection is back, and the next focus tries again.
      .catch(wait)
  const wait = () => field.addEventListener('focus', load, { once: true })
  wait()
  if (document.activeElement === field) field.dispatchEvent(new Event('focus'))
}
