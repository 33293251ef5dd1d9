import { OVERAGE_DOLLARS_PER_HOUR, OVERAGE_DOLLARS_PER_SECOND, TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { INSTRUMENTS, readings, STILL } from '../../islands/hero/scene.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { SceneFrame } from './SceneFrame.tsx'

export function Hero() {
  return (
    <section className="hero" data-enhance="hero" data-price={OVERAGE_DOLLARS_PER_SECOND}>
      <div className="pitch">
        <h1>Fly the mission before the drone exists.</h1>
        <p>GPU simulation servers for drones and ground vehicles. Start one with a click. Pay by the second.</p>
        <div className="row">
          <ButtonLink href="/contact_sales" look="primary">
            Contact sales
          </ButtonLink>
          <ButtonLink href="/pricing">See pricing</ButtonLink>
        </div>
        <p className="try">
          <a href="/sign_up">Start free</a>: {TRIAL_MINUTES} minutes, no card
        </p>
      </div>
      <div className="view">
        <SceneFrame />
      </div>
      <div className="hud">
        <dl aria-label="Telemetry of the simulated survey">
          {readings(STILL, OVERAGE_DOLLARS_PER_SECOND).map((value, i) => (
            <div key={INSTRUMENTS[i]}>
              <dt>{INSTRUMENTS[i]}</dt>
              <dd data-reading="">{value}</dd>
            </div>
          ))}
        </dl>
        <span>{`1 × NVIDIA L4 · $${OVERAGE_DOLLARS_PER_HOUR}/h · billed by the second`}</span>
        <button type="button" className="btn btn-small" data-pause="" data-needs-script="">
          Pause
        </button>
      </div>
    </section>
  )
}
