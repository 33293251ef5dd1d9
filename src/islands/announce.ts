/** Has the page's one live region say a sentence; the same one again is said again. */
export function announce(sentence: string): void {
  const region = document.getElementById('live')
  if (region) region.textContent = region.textContent === sentence ? `${sentence}\u00a0` : sentence
}
