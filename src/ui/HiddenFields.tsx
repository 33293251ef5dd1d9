type Props = {
  /** Null on a page that is the same for everyone. */
  csrfToken: string | null
  method?: 'put' | 'delete'
  /** What the form sends along. */
  values?: Record<string, string>
}

/** Every form has these: the CSRF token and, for a method other than post, its name. */
export function HiddenFields({ csrfToken, method, values = {} }: Props) {
  return (
    <>
      {csrfToken ? <input type="hidden" name="authenticity_token" value={csrfToken} /> : null}
      {method ? <input type="hidden" name="_method" value={method} /> : null}
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}
