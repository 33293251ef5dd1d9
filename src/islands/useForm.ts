import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import type { GenericSchema } from 'valibot'
import { checkForm } from '../domain/form.ts'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import type { Edits, watchEdits } from './edits.ts'

type Typed = Record<string, string | boolean>

type Options<F extends Typed> = {
  /** The rules to check. Without them, the form sends whatever was typed. */
  rules?: GenericSchema<F, unknown>
  /** The previous page's message, with what was typed into the plain form that was refused. */
  flash?: FlashMessage | null
  /** A refusal that names no field is about each empty one. */
  allRequired?: true
  /** Focus the faulty field, for a form that shows faults only there. Otherwise the alert takes the focus. */
  focusField?: boolean
  /** Pass it to warn before the user leaves with edits. Few forms do, and the others needn't load it. */
  guard?: typeof watchEdits
  /** Sends the form. Returns what to say next, or null when leaving the page: the form then stays busy. */
  send: (typed: F, form: HTMLFormElement) => Promise<FlashMessage | null>
}

/** The id of the alert's message, for the fields it is about. */
export const ALERT_WORDS = 'refusal'

/**
 * A form that works without scripts, and better with them. The inputs are uncontrolled, so we lose nothing that the
 * user typed or a password manager filled in before hydration. That is also why this is not a React form action: those
 * empty the inputs they send, and have no plain address to post to.
 */
export function useForm<F extends Typed>(options: Options<F>) {
  const { rules, flash = null, allRequired = false, focusField = false, guard, send } = options
  const ref = useRef<HTMLFormElement>(null)
  const hydrated = useHydrated()
  const [shown, setShown] = useState(false)
  const [typed, setTyped] = useState<Partial<F>>({})
  const underWay = useRef(false)
  const [busy, setBusy] = useState(false)
  const kept = plainNames(flash?.values)
  /** The last message, what was typed at the time, and how many messages came before. */
  const [said, setSaid] = useState({ flash, about: kept, nth: 0 })
  const say = (next: FlashMessage, about: Typed) => setSaid(({ nth }) => ({ flash: next, about, nth: nth + 1 }))

  const read = useCallback(() => {
    const now = readFields(ref.current) as F
    setTyped(now)
    return now
  }, [])
  useEffect(() => {
    read()
    // Some password managers report what they fill in only with a change event, and past React, which already knows the
    // value.
    const form = ref.current
    form?.addEventListener('change', read)
    return () => form?.removeEventListener('change', read)
  }, [read])

  const edits = useRef<Edits>(null)
  useEffect(() => {
    if (!guard || !ref.current) return
    edits.current = guard(ref.current)
    return edits.current.release
  }, [guard])

  useEffect(() => {
    if (focusField && said.flash?.field) inputOf(ref.current, said.flash.field)?.focus()
  }, [focusField, said])

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (underWay.current) return
    const form = event.currentTarget
    const now = read()
    const checked = rules && checkForm(rules, now)
    if (checked?.ok === false) return say({ kind: 'danger', code: 'invalid', ...checked.faults[0] }, now)
    underWay.current = true
    setBusy(true)
    // `send` handles its own failures. If it throws, that is our bug, and no reason to lock the form.
    const next = await send(now, form).catch(reportError)
    if (next === null) return
    underWay.current = false
    setBusy(false)
    if (next?.kind === 'success') edits.current?.settle()
    if (next) say(next, now)
    read()
  }

  const { code, field: about = null } = said.flash ?? {}
  const blamesEmpty = allRequired && code === 'invalid' && about === null

  /** The props of an input: its name, what was typed into it before, and what is wrong with it. */
  const field = (name: keyof F & string) => {
    const before = kept[name]
    return {
      id: name,
      name: wireName(name),
      defaultValue: typeof before === 'string' ? before : undefined,
      error: said.flash?.field === name ? said.flash.message : null,
      blamedBy: blamesEmpty && isEmpty(name, said.about[name]) ? ALERT_WORDS : null,
    }
  }
  /** Any Show button shows every password, once a script runs. */
  const toggle = hydrated ? { onToggle: () => setShown(!shown), shown } : {}
  const password = (name: keyof F & string) => ({ ...field(name), ...toggle })

  return {
    form: { ref, noValidate: true, onInput: read, onSubmit: submit },
    field,
    password,
    typed,
    busy,
    hydrated,
    said,
  }
}

/** The server nests fields under `user`. */
const wireName = (name: string) => `user[${name}]`

function plainNames(values: Record<string, string> = {}): Typed {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [plainName(name), value]))
}

const plainName = (name: string) => name.replace(/^user\[(.+)\]$/, '$1')

/** The current values of what the user can type or check, by name. */
function readFields(form: HTMLFormElement | null): Typed {
  const inputs = Array.from((form?.elements ?? []) as Iterable<HTMLInputElement>)
  const own = inputs.filter(({ name, type, readOnly }) => name && type !== 'hidden' && !readOnly)
  return Object.fromEntries(
    own.map(({ name, type, checked, value }) => [plainName(name), type === 'checkbox' ? checked : value]),
  )
}

function inputOf(form: HTMLFormElement | null, name: string): HTMLInputElement | null {
  return (form?.elements.namedItem(wireName(name)) as HTMLInputElement | null) ?? null
}

/** Spaces count only in a password. */
function isEmpty(name: string, value: Typed[string] = ''): boolean {
  return !(/password/.test(name) ? value : String(value).trim())
}
