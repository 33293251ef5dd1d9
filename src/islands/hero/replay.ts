import { CAPTIONS } from './captions.ts'
import { DURATION } from './scene.ts'
import { stage } from './stage.ts'

/** The replay: play, pause, a time slider, and a caption. It never starts on its own. */
export function mount(box: HTMLElement): void {
  const button = box.querySelector<HTMLButtonElement>('[data-play]')
  const slider = box.querySelector<HTMLInputElement>('[data-time]')
  const caption = box.querySelector('[data-caption]')
  if (!button || !slider || !caption) return
  let playing = false
  const show = stage(
    box,
    (seconds) => {
      slider.valueAsNumber += seconds
      const t = slider.valueAsNumber
      slider.ariaValueText = `${t.toFixed(0)} of ${DURATION} seconds`
      const text = CAPTIONS.findLast(([from]) => from <= t)?.[1] ?? ''
      if (caption.textContent !== text) caption.textContent = text
      if (t >= DURATION) say(false)
      return t
    },
    () => playing,
  )
  if (!show) return
  const say = (on: boolean) => {
    playing = on
    button.textContent = on ? 'Pause' : 'Play'
  }
  button.addEventListener('click', () => {
    say(!playing)
    if (playing && slider.valueAsNumber >= DURATION) slider.valueAsNumber = 0
    show()
  })
  slider.addEventListener('input', show)
  show()
}
