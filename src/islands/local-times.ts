import { type InstantLayout, instantText } from '../domain/instant.ts'

/** Puts the times of a page into the reader's zone. Those inside an island are the island's own. */
export function showLocalTimes(root: ParentNode = document): void {
  for (const time of root.querySelectorAll('time'))
    if (!time.closest('[data-island]'))
      time.textContent = instantText(time.dateTime, true, time.dataset.layout as InstantLayout | undefined)
}
