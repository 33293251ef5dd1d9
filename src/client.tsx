import { type ComponentType, type ReactNode, useEffect } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { Boundary, PartFailed } from './islands/Boundary.tsx'
import { showLocalTimes } from './islands/local-times.ts'
import { watchSession } from './islands/session-check.ts'

type Islands = Record<string, ComponentType<object>>
const files = import.meta.glob<Islands>('./*.tsx', { base: './islands' })

/** Marks the island once it responds. */
function Hydrated({ root, children }: { root: HTMLElement; children: ReactNode }) {
  useEffect(() => {
    root.dataset.hydrated = 'true'
  }, [root])
  return children
}

/** Hydrates every island that the server rendered. Until then its forms and buttons work as plain HTML. */
function start(): void {
  for (const root of document.querySelectorAll<HTMLElement>('[data-island]')) {
    const name = root.dataset.island ?? ''
    void files[`./${name}.tsx`]?.().then(
      (file) => {
        const Island = file[name]
        const props = JSON.parse(root.nextElementSibling?.textContent ?? '{}')
        if (Island)
          hydrateRoot(
            root,
            <Hydrated root={root}>
              <Boundary>
                <Island {...props} />
              </Boundary>
            </Hydrated>,
          )
      },
      () => {
        // What the server rendered still works as plain HTML.
        const note = document.createElement('div')
        root.before(note)
        createRoot(note).render(<PartFailed />)
      },
    )
  }
  showLocalTimes()
  const run = document.querySelector<HTMLElement>('[data-follow]')?.dataset.follow
  if (run) void import('./islands/run/follow.ts').then((file) => file.followRun(run))
  // Not needed right away; visitors' pages load it without this file.
  void import('./islands/every-page.ts')
  watchSession()
}

// An async script from the browser's cache may run before the page has been parsed.
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
