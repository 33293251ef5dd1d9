import { OVERAGE_DOLLARS_PER_SECOND } from '../../domain/money/plan.ts'
import { CAPTIONS } from '../../islands/hero/captions.ts'
import { DURATION, HEIGHT, STILL, WIDTH } from '../../islands/hero/scene.ts'
import { Section } from './Section.tsx'

const clock = (seconds: number) => `0:${String(seconds).padStart(2, '0')}`

/** The video: not a recording, but the scene with a time slider. Without JavaScript, a poster and a transcript. */
export function Replay() {
  return (
    <Section id="replay" label="Replay" title={`One survey, ${DURATION} seconds, start to finish`}>
      <figure className="replay" data-enhance="replay" data-price={OVERAGE_DOLLARS_PER_SECOND}>
        <div className="view">
          <svg
            className="frame"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="xMidYMid slice"
            role="img"
            aria-label="A drone surveys hills with lidar while a rover drives in the foreground."
          >
            <use href="#survey" />
          </svg>
        </div>
        <p className="caption" data-caption="" data-needs-script="" />
        <div className="row controls" data-needs-script="">
          <button type="button" className="btn btn-small" data-play="">
            Play
          </button>
          <input
            type="range"
            min="0"
            max={DURATION}
            step="any"
            defaultValue={STILL}
            aria-label="Replay time"
            data-time=""
          />
        </div>
        <figcaption>
          <details>
            <summary>Transcript</summary>
            <dl>
              {CAPTIONS.map(([from, text]) => (
                <div key={from}>
                  <dt>{clock(from)}</dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </details>
        </figcaption>
      </figure>
    </Section>
  )
}
