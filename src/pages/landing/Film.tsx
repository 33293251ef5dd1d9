import { CHAPTERS, LENGTH, SHAPES } from '../../islands/film/chapters.ts'
import { Section } from './Section.tsx'

const clock = (seconds: number) => `0:${String(seconds).padStart(2, '0')}`
const ALT =
  'The dashboard with a running server: its time, what it has cost so far, and the buttons Open simulator and Stop.'

/** The video: real screens, filmed by `npm run film`. Without JavaScript, a still picture and the chapters. */
export function Film() {
  return (
    <Section id="film" label="Product" title="Start, fly, stop, and see the bill">
      <figure className="film" data-enhance="film">
        <div className="view">
          {(['dark', 'light'] as const).flatMap((theme) =>
            (['wide', 'tall'] as const).map((shape) => (
              <img
                key={theme + shape}
                className={`only-${theme} ${shape}`}
                src={`/film/${shape}-${theme}.webp`}
                alt={ALT}
                width={SHAPES[shape][0]}
                height={SHAPES[shape][1]}
                loading="lazy"
                decoding="async"
              />
            )),
          )}
        </div>
        <div className="row controls" data-needs-script="">
          <button type="button" className="btn btn-small" data-play="">
            Play
          </button>
          <input type="range" min="0" max={LENGTH} step="any" defaultValue="0" aria-label="Video time" data-time="" />
        </div>
        <figcaption>
          <ol className="chapters">
            {CHAPTERS.map(({ from, name, text }) => (
              <li key={name} data-from={from}>
                <span className="mono">{clock(from)}</span> <strong>{name}</strong>
                <p className="muted">{text}</p>
              </li>
            ))}
          </ol>
        </figcaption>
      </figure>
    </Section>
  )
}
