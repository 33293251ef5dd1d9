/** Announces a sentence in the page's one live region, even if it says the same one already. */
export function announce(sentence: string): void {
  const region = document.getElementById('live')
  if (region) region.textContent = region.textContent === sentence ? `${sentence}\u00a0` : sentence
}
