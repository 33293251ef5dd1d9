import type { ComponentType } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { showLocalTimes } from './islands/local-times.ts'
import { watchSession } from './islands/session-check.ts'

type Islands = Record<string, ComponentType<object>>
const files = import.meta.glob<Islands>('./*.tsx', { base: './islands' })

/** Wakes every island that the server rendered. */
for (const root of document.querySelectorAll<HTMLElement>('[data-island]')) {
  const name = root.dataset.island ?? ''
  void files[`./${name}.tsx`]?.().then((file) => {
    const Island = file[name]
    if (Island) hydrateRoot(root, <Island {...JSON.parse(root.nextElementSibling?.textContent ?? '{}')} />)
  })
}

showLocalTimes()
// Not needed to begin with, and public pages load it without this file.
void import('./islands/every-page.ts')
watchSession()
