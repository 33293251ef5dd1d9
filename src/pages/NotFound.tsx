import { ButtonLink } from '../ui/Button.tsx'
import { Contours } from './landing/Contours.tsx'

/** The document's title and its heading. */
export const NOT_FOUND_TITLE = 'Oops—page not found'

/** @param back the referrer's path if it is one of ours, else null */
export function NotFound({ path, signedIn, back }: { path: string; signedIn: boolean; back: string | null }) {
  return (
    <div className="page lost stack">
      <svg className="diagram" viewBox="0 0 320 120" aria-hidden="true">
        <path className="faint" d="M0 104h320" />
        <path className="mint" d="M30 90q50-66 100-34t86-30" strokeDasharray="4 5" />
        <path className="amber" d="M222 18l16 16M238 18l-16 16" />
        <path className="mint" d="M16 88l28 10M44 88l-28 10M6 88h20M34 88h20" />
      </svg>
      <h1>{NOT_FOUND_TITLE}</h1>
      <p>
        There's no page at <code>{path}</code>
      </p>
      <p className="row">
        <ButtonLink href={back ?? '/'} data-enhance="back">
          Go Back
        </ButtonLink>
        <ButtonLink href="/">Home</ButtonLink>
        {signedIn ? (
          <ButtonLink href="/dashboard" look="primary">
            Dashboard
          </ButtonLink>
        ) : (
          <ButtonLink href="/sign_in" look="primary">
            Sign In
          </ButtonLink>
        )}
      </p>
      <Contours />
    </div>
  )
}
