import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react'
import { Icon, Outline } from './Icon.tsx'

const EYE =
  'M2.06 12.35a1 1 0 0 1 0-.7 10.75 10.75 0 0 1 19.88 0 1 1 0 0 1 0 .7 10.75 10.75 0 0 1-19.88 0M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0'

type Labelled = {
  name: string
  label: string
  hint?: ReactNode
  error?: string | null | undefined
  /** The id of a message about several fields, if this is one of them. */
  blamedBy?: string | null | undefined
  /** Defaults to the name; pass one if two forms on a page share a name. */
  id?: string
}

/** The ids of the errors and the hint, in the order a screen reader says them; undefined if there are none. */
function describedBy(id: string, { hint, error, blamedBy }: Partial<Labelled>): string | undefined {
  return [error && `${id}-error`, blamedBy, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined
}

function Frame({ name, id = name, label, hint, error, children }: Labelled & { children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {error ? (
        <p className="error" id={`${id}-error`}>
          <Icon name="circle-alert" size={14} />
          {error}
        </p>
      ) : null}
      {hint ? (
        <div className="hint" id={`${id}-hint`}>
          {hint}
        </div>
      ) : null}
    </div>
  )
}

/** The attributes that every control shares. */
function control({ name, id = name, ...said }: Labelled) {
  return {
    id,
    name,
    className: 'input',
    'aria-invalid': said.error || said.blamedBy ? true : undefined,
    'aria-describedby': describedBy(id, said),
  }
}

export function Field({ label, hint, error, blamedBy, ...rest }: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const labeled = { label, hint, error, blamedBy, name: rest.name, ...(rest.id && { id: rest.id }) }
  return (
    <Frame {...labeled}>
      <input {...rest} {...control(labeled)} />
    </Frame>
  )
}

export function TextArea({ label, hint, error, ...rest }: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const labeled = { label, hint, error, name: rest.name, ...(rest.id && { id: rest.id }) }
  return (
    <Frame {...labeled}>
      <textarea {...rest} {...control(labeled)} />
    </Frame>
  )
}

type SelectProps = Labelled &
  SelectHTMLAttributes<HTMLSelectElement> & {
    options: readonly (string | { value: string; label: string })[]
    placeholder?: string
  }

export function Select({ label, hint, error, options, placeholder, ...rest }: SelectProps) {
  const labeled = { label, hint, error, name: rest.name, ...(rest.id && { id: rest.id }) }
  return (
    <Frame {...labeled}>
      <select {...rest} {...control(labeled)}>
        {placeholder ? <option value="">{placeholder}</option> : null}
        {options.map((option) => {
          const { value, label: words } = typeof option === 'string' ? { value: option, label: option } : option
          return (
            <option key={value} value={value}>
              {words}
            </option>
          )
        })}
      </select>
    </Frame>
  )
}

type PasswordProps = Labelled &
  InputHTMLAttributes<HTMLInputElement> & {
    autoComplete: 'new-password' | 'current-password'
    shown?: boolean
    /** Only an island can show the password; without this there is no Show button. */
    onToggle?: () => void
  }

export function PasswordField({ label, hint, error, blamedBy, shown = false, onToggle, ...rest }: PasswordProps) {
  const labeled = { label, hint, error, blamedBy, name: rest.name, ...(rest.id && { id: rest.id }) }
  return (
    <Frame {...labeled}>
      <div className="with-button">
        <input spellCheck={false} {...rest} type={shown ? 'text' : 'password'} {...control(labeled)} />
        {onToggle ? (
          // Named by its text, not an aria-label: a search by label must find only the field.
          <button type="button" className="btn" aria-pressed={shown} onClick={onToggle}>
            <Outline path={EYE} />
            <span className="visually-hidden">Show {label.toLowerCase()}</span>
          </button>
        ) : null}
      </div>
    </Frame>
  )
}

type CheckboxProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> & {
  name: string
  label: ReactNode
  error?: string | null | undefined
}

export function Checkbox({ label, error, id, ...rest }: CheckboxProps) {
  const inputId = id ?? rest.name
  return (
    <div className="field">
      <div className="check">
        <input
          {...rest}
          type="checkbox"
          id={inputId}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(inputId, { error })}
        />
        <label htmlFor={inputId}>{label}</label>
      </div>
      {error ? (
        <p className="error" id={`${inputId}-error`}>
          <Icon name="circle-alert" size={14} />
          {error}
        </p>
      ) : null}
    </div>
  )
}
