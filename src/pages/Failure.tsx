import { ButtonLink } from '../ui/Button.tsx'
import { Contours } from './landing/Contours.tsx'

/** A page that failed to load: why, and what to do next. */
export function Failure({ sentence, path }: { sentence: string; path: string }) {
  return (
    <div className="page narrow stack">
      <h1>This page didn't load</h1>
      <p>{sentence}</p>
      <p className="row">
        <ButtonLink href={path} look="primary">
          Try again
        </ButtonLink>
        <ButtonLink href="/status">Status</ButtonLink>
      </p>
      <Contours />
    </div>
  )
}
