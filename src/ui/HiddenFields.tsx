/** Every form has these: the CSRF token and, for a method other than post, its name. */
export function HiddenFields({ csrfToken, method }: { csrfToken: string; method?: 'put' | 'delete' }) {
  return (
    <>
      <input type="hidden" name="authenticity_token" value={csrfToken} />
      {method ? <input type="hidden" name="_method" value={method} /> : null}
    </>
  )
}
