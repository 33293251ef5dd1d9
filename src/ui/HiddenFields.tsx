/** What every form of ours carries: the CSRF token and, where a form means another method than post, its name. */
export function HiddenFields({ csrfToken, method }: { csrfToken: string; method?: 'put' | 'delete' }) {
  return (
    <>
      <input type="hidden" name="authenticity_token" value={csrfToken} />
      {method ? <input type="hidden" name="_method" value={method} /> : null}
    </>
  )
}
