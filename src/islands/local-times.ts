import { type InstantLayout, instantText } from '../domain/instant.ts'

/** Shows the page's times in the reader's zone, each day of a timeline once. Islands take care of their own. */
export function showLocalTimes(root: ParentNode = document): void {
  let day = ''
  for (const time of root.querySelectorAll('time'))
    if (!time.closest('[data-island]')) {
      const text = instantText(time.dateTime, true, time.dataset.layout as InstantLayout | undefined)
      time.textContent = text
      if (time.dataset.once) {
        time.hidden = text === day
        day = text
      }
    }
}

/** For part of a visitors' page. */
export const mount = (part: HTMLElement) => showLocalTimes(part)
