/**
 * The whole script of a public page before it is idle: it waits until the browser has nothing better to do (or somebody starts to use the
 * page), and only then loads what the page works without: the parts named by `data-enhance`, what every page has, and the islands of forms.
 */
type Enhancement = { mount: (element: HTMLElement) => void }

const load: Record<string, () => Promise<Enhancement>> = {
  hero: () => import('./islands/hero/hero.ts'),
  replay: () => import('./islands/hero/replay.ts'),
  hours: () => import('./islands/pricing/hours.ts'),
  count: () => import('./islands/contact/count.ts'),
  back: () => import('./islands/not-found/back.ts'),
}

let started = false
function start(): void {
  if (started) return
  started = true
  for (const element of document.querySelectorAll<HTMLElement>('[data-enhance]')) {
    load[element.dataset.enhance ?? '']?.().then(({ mount }) => mount(element))
  }
  void import('./islands/every-page.ts')
  if (document.querySelector('[data-island]')) void import('./client.tsx')
}

addEventListener('focusin', start, { once: true })
addEventListener('pointerdown', start, { once: true })
/** Idle counts from the first paint: before it the browser is idle, too, waiting for the style sheet. */
new PerformanceObserver(() => {
  if ('requestIdleCallback' in window) requestIdleCallback(start, { timeout: 4000 })
  else setTimeout(start, 1500)
}).observe({ type: 'paint', buffered: true })
