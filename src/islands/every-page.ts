/** Runs on every page that has a script, when the browser is idle. */
import { sendOnce } from './send-once.ts'
import './theme.ts'

sendOnce()

try {
  if (sessionStorage.getItem('reloaded-for-other'))
    void import('./stale-page.ts').then(({ sayWhyReloaded }) => sayWhyReloaded())
} catch {
  // The browser blocks storage.
}

if (document.querySelector('[data-passkey]')) void import('./passkeys.ts').then(({ mountPasskeys }) => mountPasskeys())
if (document.querySelector('.bell')) void import('./bell.ts')
if (document.querySelector('[data-utc]')) void import('./utc-fields.ts')

// At a fragment, browsers skip autofocus, and the answer to a form would go unheard.
if (location.hash && document.activeElement === document.body)
  document.querySelector<HTMLElement>('main [autofocus]')?.focus()

/**
 * Preloads the style sheet of the pages that probably come next; here it changes nothing. If the browser fetched it
 * only with the page, it might show that page before it knows about the transition, and drop the animation with an
 * error.
 */
const { next } = document.documentElement.dataset
if (next) document.head.insertAdjacentHTML('beforeend', `<link rel="stylesheet" media="not all" href="${next}">`)
