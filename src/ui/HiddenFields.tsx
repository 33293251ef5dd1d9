type Props = {
  csrfToken: string
  method?: 'put' | 'delete'
  /** What the form sends along. */
  values?: Record<string, string>
}

/** Every form has these: the CSRF token and, for a method other than post, its name. */
export function HiddenFields({ csrfToken, method, values = {} }: Props) {
  return (
    <>
      <input type="hidden" name="authenticity_token" value={csrfToken} />
      {method ? <input type="hidden" name="_method" value={method} /> : null}
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}
