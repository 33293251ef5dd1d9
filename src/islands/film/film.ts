import { LENGTH } from './chapters.ts'

/**
 * The film: play, pause, a time slider, and its chapters. It starts when it comes into view, unless the person prefers
 * less motion or less data, and pauses out of view. Nothing loads before that.
 */
export function mount(box: HTMLElement): void {
  const view = box.querySelector('.view') as HTMLElement
  const button = box.querySelector('[data-play]') as HTMLButtonElement
  const slider = box.querySelector('[data-time]') as HTMLInputElement
  const chapters = [...box.querySelectorAll<HTMLElement>('[data-from]')]
  const video = document.createElement('video')
  if (!video.canPlayType('video/webm; codecs="vp9"')) return
  Object.assign(video, { muted: true, playsInline: true, ariaHidden: 'true' })
  box.classList.add('is-live')

  /** Whether the person wants it to play. Out of view, it pauses anyway. */
  let wanted = !matchMedia('(prefers-reduced-motion: reduce)').matches && !savesData()
  let visible = false
  let source = ''

  /** The film that matches the still picture on screen. Fetched whole, so the slider works without range requests. */
  const load = async () => {
    const poster = [...view.querySelectorAll('img')].find((image) => image.offsetWidth)
    const film = poster?.src.replace(/webp$/, 'webm') ?? ''
    if (film === source) return
    source = film
    const answer = await fetch(film).catch(() => null)
    if (source !== film) return
    if (!answer?.ok) return say(false)
    const at = slider.valueAsNumber
    video.src = URL.createObjectURL(await answer.blob())
    video.currentTime = at
    view.append(video)
  }
  const say = (on: boolean) => {
    wanted = on
    button.textContent = on ? 'Pause' : 'Play'
  }
  const show = async () => {
    if (!wanted || !visible || document.hidden) return video.pause()
    await load()
    // A browser may refuse to play until the person presses Play.
    if (wanted && video.src) await video.play().catch(({ name }) => name === 'NotAllowedError' && say(false))
  }
  const mark = () => {
    const now = slider.valueAsNumber
    slider.ariaValueText = `${Math.round(now)} of ${LENGTH} seconds`
    // The still picture shows none of their beginnings.
    const current = source && chapters.findLast(({ dataset }) => Number(dataset.from) <= now + 0.05)
    for (const chapter of chapters) chapter.ariaCurrent = chapter === current ? 'step' : null
  }

  button.addEventListener('click', () => {
    say(!wanted)
    if (wanted && slider.valueAsNumber >= LENGTH - 0.1) slider.valueAsNumber = video.currentTime = 0
    void show()
  })
  slider.addEventListener('input', async () => {
    mark()
    await load()
    video.currentTime = slider.valueAsNumber
  })
  video.addEventListener('timeupdate', () => {
    if (!video.paused) slider.valueAsNumber = video.currentTime
    mark()
  })
  video.addEventListener('ended', () => {
    slider.valueAsNumber = LENGTH
    say(false)
  })
  new IntersectionObserver(
    ([entry]) => {
      visible = !!entry?.isIntersecting
      void show()
    },
    { threshold: 0.5 },
  ).observe(view)
  document.addEventListener('visibilitychange', show)
  say(wanted)
  mark()
}

function savesData(): boolean {
  return !!(navigator as { connection?: { saveData?: boolean } }).connection?.saveData
}
