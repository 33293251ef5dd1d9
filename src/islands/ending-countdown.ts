import { countdownText, minutesText } from '../domain/money/trial.ts'
import { announce } from './announce.ts'
import { request } from './request.ts'

/**
 * Counts down to a server's end in the banner and the tab's title, until it's stopped. Its button answers in place,
 * because the page may hold a half-filled form.
 * @param onMoved called when the end has moved
 * @returns what stops it
 */
export function countDown(clock: HTMLElement, ownTitle: () => string, onMoved: () => Promise<void>): () => void {
  // By the server's clock, because this machine's may be wrong.
  const [minutes = 0, seconds = 0] = (clock.textContent ?? '').split(':').map(Number)
  const end = Date.now() + (minutes * 60 + seconds) * 1000
  // A trial's end is in minutes.
  const unit = clock.textContent?.includes(':') ? '' : ' minutes'
  const tick = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000))
    clock.textContent = unit ? minutesText(left / 60) : countdownText(left)
    document.title = `${clock.textContent}${unit} left · ${ownTitle()}`
  }
  const form = clock.closest('.row')?.querySelector('form')
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    void addTime(form, onMoved)
  })
  tick()
  const timer = setInterval(tick, 1000)
  return () => clearInterval(timer)
}

const SAVED = 'Saved. Your server keeps running.'

async function addTime(form: HTMLFormElement, onMoved: () => Promise<void>): Promise<void> {
  const button = form.querySelector('button')
  if (!button || button.ariaDisabled) return
  button.ariaDisabled = 'true'
  const { ok, body } = await request('PUT', new URL(form.action).pathname, { ends_at: button.value })
  if (ok) {
    // Takes the banner's place until there is a warning again; its button had the focus.
    const said = document.createElement('p')
    said.className = 'page page-flash'
    said.textContent = SAVED
    said.tabIndex = -1
    document.getElementById('ending')?.replaceChildren(said)
    said.focus({ preventScroll: true })
    void onMoved()
    announce(SAVED)
    return
  }
  button.ariaDisabled = null
  const text = body.error ?? body.message ?? "That didn't work. Please try again."
  const said = form.querySelector('p') ?? form.appendChild(document.createElement('p'))
  said.className = 'error'
  said.textContent = text
  announce(text)
}
