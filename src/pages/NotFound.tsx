import { ButtonLink } from './parts/Button.tsx'

type NotFoundProps = {
  path: string
  signedIn: boolean /** The page on this site that led here, if any. */
  back: string | null
}

export function NotFound({ path, signedIn, back }: NotFoundProps) {
  return (
    <section className="not-found">
      <h1>Oops—page not found</h1>
      <p>
        There is nothing at <code>{path}</code>.
      </p>
      <p className="row">
        <ButtonLink href={back ?? '/'}>Go Back</ButtonLink>
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
    </section>
  )
}
