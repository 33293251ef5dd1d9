import { type InstantLayout, instantText } from '../domain/instant.ts'

/**
 * Shows the page's times in the reader's zone, with each day of a timeline once. Islands take care of their own times.
 * In a chart, `data-at` marks a time, because SVG has no `<time>`.
 */
export function showLocalTimes(root: ParentNode = document): void {
  let day = ''
  for (const time of root.querySelectorAll<HTMLTimeElement>('time, [data-at]'))
    if (!time.closest('[data-island]')) {
      const { at = time.dateTime, layout, after = '', once } = time.dataset
      const text = instantText(at, true, layout as InstantLayout | undefined)
      time.textContent = text + after
      if (once) {
        time.hidden = text === day
        day = text
      }
    }
}

/** For a part of a visitors' page. */
export const mount = (part: HTMLElement) => showLocalTimes(part)
