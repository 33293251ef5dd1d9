import { type InstantLayout, instantText } from '../domain/instant.ts'

/**
 * Shows the page's times in the reader's zone, each day of a timeline once. Islands take care of their own. In a chart,
 * `data-at` marks what says a time: SVG has no `<time>`.
 */
export function showLocalTimes(root: ParentNode = document): void {
  let day = ''
  for (const time of root.querySelectorAll<HTMLTimeElement | SVGElement>('time, [data-at]'))
    if (!time.closest('[data-island]')) {
      const { at, layout, after = '' } = time.dataset
      const text = instantText(at ?? (time as HTMLTimeElement).dateTime, true, layout as InstantLayout | undefined)
      time.textContent = text + after
      if (time.dataset.once) {
        time.toggleAttribute('hidden', text === day)
        day = text
      }
    }
}

/** For part of a visitors' page. */
export const mount = (part: HTMLElement) => showLocalTimes(part)
