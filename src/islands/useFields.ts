import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

export type Fields = Record<string, string>

/** Of `names`, those with nothing in them. Spaces are something in a password only. */
export function emptyFields(fields: Fields, names: string[]): string[] {
  return names.filter((name) => !(/password/.test(name) ? fields[name] : fields[name]?.trim()))
}

/**
 * The form's fields by name, as they stand. The inputs stay the browser's own, so that nothing is lost of what was typed, or
 * filled in by a password manager, before our script came.
 */
export function useFields(): { form: RefObject<HTMLFormElement | null>; fields: Fields; read: () => Fields } {
  const form = useRef<HTMLFormElement>(null)
  const [fields, setFields] = useState<Fields>({})
  const read = useCallback(() => {
    const now: Fields = {}
    if (form.current) for (const [name, value] of new FormData(form.current)) now[name] = String(value)
    setFields(now)
    return now
  }, [])
  useEffect(() => {
    read()
  }, [read])
  return { form, fields, read }
}
