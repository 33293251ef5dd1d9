/**
 * The script of a public page, after the page has been seen or with the first touch (src/wake.ts). It waits until the browser has nothing
 * better to do, and loads what the page works without: the parts named by `data-enhance`, what every page has, and the islands of forms.
 */
type Enhancement = { mount: (element: HTMLElement) => void }

const load: Record<string, () => Promise<Enhancement>> = {
  hero: () => import('./islands/hero/hero.ts'),
  replay: () => import('./islands/hero/replay.ts'),
  hours: () => import('./islands/pricing/hours.ts'),
  count: () => import('./islands/contact/count.ts'),
  back: () => import('./islands/not-found/back.ts'),
}

const kept = new WeakSet<HTMLFormElement>()

/**
 * A form that is sent before its island is there waits for it (client.tsx): the server's page would not say what the island says. Sent once,
 * by whichever comes first: the island, or the end of patience. A form that only closes its dialog needs no island.
 */
function keep(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement
  const island = form.closest<HTMLElement>('[data-island]')
  if (!island || island.dataset.awake || form.method === 'dialog') return
  event.preventDefault()
  if (kept.has(form)) return
  kept.add(form)
  const awake = new Promise((resolve) => island.addEventListener('awake', resolve))
  const patience = new Promise((resolve) => setTimeout(resolve, 4000))
  void Promise.race([awake.then(() => true), patience]).then((isAwake) =>
    isAwake ? form.requestSubmit() : form.submit(),
  )
}

function start(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-enhance]')) {
    load[element.dataset.enhance ?? '']?.().then(({ mount }) => mount(element))
  }
  void import('./islands/every-page.ts')
  if (document.querySelector('[data-island]')) void import('./client.tsx')
}

addEventListener('submit', keep)
if ('requestIdleCallback' in window) requestIdleCallback(start, { timeout: 2000 })
else start()
