import { type ComponentType, createElement } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { showLocalTimes } from './islands/local-times.ts'
import { watchSession } from './islands/session-check.ts'

type Islands = Record<string, ComponentType<object>>
const files = import.meta.glob<Islands>('./islands/*.tsx')

/** Wakes every island that the server rendered. */
for (const root of document.querySelectorAll<HTMLElement>('[data-island]')) {
  const name = root.dataset.island ?? ''
  void files[`./islands/${name}.tsx`]?.().then((file) => {
    const island = file[name]
    if (island) hydrateRoot(root, createElement(island, JSON.parse(root.nextElementSibling?.textContent ?? '{}')))
  })
}

showLocalTimes()
watchSession()
