/** The script of visitors' pages. They work without it; it enhances the parts marked with `data-enhance`. */
type Enhancement = { mount: (element: HTMLElement) => void }

const load: Record<string, () => Promise<Enhancement>> = {
  hours: () => import('./islands/pricing/hours.ts'),
  count: () => import('./islands/contact/count.ts'),
  times: () => import('./islands/local-times.ts'),
  back: () => import('./islands/not-found/back.ts'),
}

/** Decoration waits until the browser is idle. */
const decoration: typeof load = {
  hero: () => import('./islands/hero/hero.ts'),
  film: () => import('./islands/film/film.ts'),
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

// An async script from the browser's cache may run before the page has been parsed.
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
