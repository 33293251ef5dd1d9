import { CAPTIONS } from './captions.ts'
import { DURATION } from './scene.ts'
import { stage, ticker } from './stage.ts'

/** The replay: play, pause, a slider over its time, and a caption. It never starts by itself. */
export function mount(box: HTMLElement): void {
  const scene = stage(box, () => run())
  const button = box.querySelector<HTMLButtonElement>('[data-play]')
  const slider = box.querySelector<HTMLInputElement>('[data-time]')
  const caption = box.querySelector('[data-caption]')
  if (!scene || !button || !slider || !caption) return
  let playing = false
  const show = () => {
    const t = slider.valueAsNumber
    slider.ariaValueText = `${t.toFixed(0)} of ${DURATION} seconds`
    const text = CAPTIONS.findLast(([from]) => from <= t)?.[1] ?? ''
    if (caption.textContent !== text) caption.textContent = text
    scene.draw(t)
  }
  const run = ticker((seconds) => {
    if (!playing || !scene.seen()) return false
    slider.valueAsNumber += seconds
    show()
    if (slider.valueAsNumber >= DURATION) set(false)
    return playing
  })
  const set = (on: boolean) => {
    playing = on
    button.textContent = on ? 'Pause' : 'Play'
    if (on && slider.valueAsNumber >= DURATION) slider.valueAsNumber = 0
    run()
  }
  button.addEventListener('click', () => set(!playing))
  slider.addEventListener('input', show)
  show()
}
