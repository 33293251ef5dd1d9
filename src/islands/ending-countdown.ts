import { countdownText, minutesText } from '../domain/money/trial.ts'

/** Counts down to a server's end in the banner and the tab's title, until it's told to stop. @returns what stops it */
export function countDown(clock: HTMLElement, ownTitle: () => string): () => void {
  // By the server's clock: this machine's may be wrong.
  const [minutes = 0, seconds = 0] = (clock.textContent ?? '').split(':').map(Number)
  const end = Date.now() + (minutes * 60 + seconds) * 1000
  // A trial's end is in minutes.
  const unit = clock.textContent?.includes(':') ? '' : ' minutes'
  const tick = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000))
    clock.textContent = unit ? minutesText(left / 60) : countdownText(left)
    document.title = `${clock.textContent}${unit} left · ${ownTitle()}`
  }
  tick()
  const timer = setInterval(tick, 1000)
  return () => clearInterval(timer)
}
