/** The script of a visitor's page. The page works without it; it brings the parts named by `data-enhance` to life. */
type Enhancement = { mount: (element: HTMLElement) => void }

const load: Record<string, () => Promise<Enhancement>> = {
  hours: () => import('./islands/pricing/hours.ts'),
  count: () => import('./islands/contact/count.ts'),
  back: () => import('./islands/not-found/back.ts'),
}

/** Only decoration waits until the browser has nothing better to do. */
const decoration: typeof load = {
  hero: () => import('./islands/hero/hero.ts'),
  replay: () => import('./islands/hero/replay.ts'),
}

function mount(enhancements: typeof load): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-enhance]'))
    void enhancements[element.dataset.enhance ?? '']?.().then((file) => file.mount(element))
}

function start(): void {
  mount(load)
  void import('./islands/every-page.ts')
  if ('requestIdleCallback' in window) requestIdleCallback(() => mount(decoration), { timeout: 2000 })
  else mount(decoration)
}

// An asynchronous script from the browser's cache may be here before the end of the page.
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
