import { type InstantLayout, instantText } from '../domain/instant.ts'

/** Shows the page's times in the reader's zone. Islands take care of their own. */
export function showLocalTimes(root: ParentNode = document): void {
  for (const time of root.querySelectorAll('time'))
    if (!time.closest('[data-island]'))
      time.textContent = instantText(time.dateTime, true, time.dataset.layout as InstantLayout | undefined)
}

/** For part of a visitors' page. */
export const mount = (part: HTMLElement) => showLocalTimes(part)
