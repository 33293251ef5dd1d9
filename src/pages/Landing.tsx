import { Competition } from './landing/Competition.tsx'
import { Features } from './landing/Features.tsx'
import { Film } from './landing/Film.tsx'
import { Hero } from './landing/Hero.tsx'
import { Resources } from './landing/Resources.tsx'
import { Trial } from './landing/Trial.tsx'

export function Landing() {
  return (
    <>
      <Hero />
      <Film />
      <Features />
      <Competition />
      <Resources />
      <Trial />
    </>
  )
}
