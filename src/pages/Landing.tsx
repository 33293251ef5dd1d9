import { Competition } from './landing/Competition.tsx'
import { Features } from './landing/Features.tsx'
import { Hero } from './landing/Hero.tsx'
import { Replay } from './landing/Replay.tsx'
import { Resources } from './landing/Resources.tsx'
import { Trial } from './landing/Trial.tsx'

export function Landing() {
  return (
    <div className="landing">
      <Hero />
      <Replay />
      <Features />
      <Competition />
      <Resources />
      <Trial />
    </div>
  )
}
