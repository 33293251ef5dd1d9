import { DURATION, STILL } from './scene.ts'
import { stage, ticker } from './stage.ts'

/** Sets the picture of the hero in motion, from the moment that the server drew. Under reduced motion it waits to be asked. */
export function mount(box: HTMLElement): void {
  const scene = stage(box, () => run())
  const button = box.querySelector<HTMLButtonElement>('[data-pause]')
  if (!scene || !button) return
  const reduced = matchMedia('(prefers-reduced-motion: reduce)')
  let t = STILL
  let playing = !reduced.matches
  const run = ticker((seconds) => {
    if (!playing || !scene.seen()) return false
    t = (t + seconds) % DURATION
    scene.draw(t)
    return true
  })
  const set = (on: boolean) => {
    playing = on
    button.textContent = on ? 'Pause' : 'Play'
    run()
  }
  button.addEventListener('click', () => set(!playing))
  reduced.addEventListener('change', () => set(!reduced.matches))
  set(playing)
}
