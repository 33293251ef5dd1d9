import { type ComponentType, type ReactNode, useEffect } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { showLocalTimes } from './islands/local-times.ts'
import { watchSession } from './islands/session-check.ts'

type Islands = Record<string, ComponentType<object>>
const files = import.meta.glob<Islands>('./*.tsx', { base: './islands' })

/** Says that the island answers from now on, also to whoever waits to send its form (public.ts). */
function Awake({ root, children }: { root: HTMLElement; children: ReactNode }) {
  useEffect(() => {
    root.dataset.awake = 'true'
    root.dispatchEvent(new Event('awake'))
  }, [root])
  return children
}

/** Wakes every island that the server rendered. */
for (const root of document.querySelectorAll<HTMLElement>('[data-island]')) {
  const name = root.dataset.island ?? ''
  void files[`./${name}.tsx`]?.().then((file) => {
    const Island = file[name]
    const props = JSON.parse(root.nextElementSibling?.textContent ?? '{}')
    if (Island)
      hydrateRoot(
        root,
        <Awake root={root}>
          <Island {...props} />
        </Awake>,
      )
  })
}

showLocalTimes()
// Not needed to begin with, and public pages load it without this file.
void import('./islands/every-page.ts')
watchSession()
