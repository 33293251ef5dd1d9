import { DURATION, STILL } from './scene.ts'
import { stage } from './stage.ts'

/** Animates the hero from the frame that the server drew. With reduced motion, it waits for Play. */
export function mount(box: HTMLElement): void {
  const button = box.querySelector('[data-pause]') as HTMLButtonElement
  const reduced = matchMedia('(prefers-reduced-motion: reduce)')
  let t = STILL
  let playing = false
  const show = stage(
    box,
    (seconds) => {
      t = (t + seconds) % DURATION
      return t
    },
    () => playing,
  )
  if (!show) return
  const set = (on: boolean) => {
    playing = on
    button.textContent = on ? 'Pause' : 'Play'
    show()
  }
  button.addEventListener('click', () => set(!playing))
  reduced.addEventListener('change', () => set(!reduced.matches))
  set(!reduced.matches)
}
