import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import type { GenericSchema } from 'valibot'
import { checkForm } from '../domain/form.ts'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { useHydrated } from '../ui/useHydrated.ts'

type Typed = Record<string, string | boolean>

type Options<F extends Typed> = {
  /** What the form may say. A form without rules sends whatever was typed. */
  rules?: GenericSchema<F, unknown>
  /** What the page before has to say, with what was typed into the plain form that it refuses. */
  flash?: FlashMessage | null
  /** The one sentence of the rules that means every field with nothing in it. */
  aboutEmpty?: string
  /** A fault is shown beside its field alone: the focus goes there. Otherwise the alert takes it. */
  focusField?: boolean
  /** Sends the form. Gives what to say next, or null when the page is being left: the form stays busy then. */
  send: (typed: F, form: HTMLFormElement) => Promise<FlashMessage | null>
}

/** The id of the alert's words, for the fields that they are about. */
export const ALERT_WORDS = 'refusal'

/**
 * A form that works without script, and better with it. The inputs stay the browser's own, so that nothing is lost of what was typed, or
 * filled in by a password manager, before our script came. That is also why this is no form action of React's: it empties the inputs
 * that it sends, and has no plain address to post to.
 */
export function useForm<F extends Typed>({ rules, flash = null, aboutEmpty, focusField = false, send }: Options<F>) {
  const ref = useRef<HTMLFormElement>(null)
  const hydrated = useHydrated()
  const [shown, setShown] = useState(false)
  const [typed, setTyped] = useState<Partial<F>>({})
  const underWay = useRef(false)
  const [busy, setBusy] = useState(false)
  const kept = plainNames(flash?.values)
  /** The last thing said, what was typed when it was said, and how many were said before it. */
  const [said, setSaid] = useState({ flash, about: kept, nth: 0 })
  const say = (next: FlashMessage, about: Typed) => setSaid(({ nth }) => ({ flash: next, about, nth: nth + 1 }))

  const read = useCallback(() => {
    const now = readFields(ref.current) as F
    setTyped(now)
    return now
  }, [])
  useEffect(() => {
    read()
  }, [read])

  useEffect(() => {
    if (focusField && said.flash?.field) inputOf(ref.current, said.flash.field)?.focus()
  }, [focusField, said])

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (underWay.current) return
    const form = event.currentTarget
    const now = read()
    const checked = rules && checkForm(rules, now)
    if (checked?.ok === false) return say({ kind: 'danger', ...checked.faults[0] }, now)
    underWay.current = true
    setBusy(true)
    // It answers for its own failures: what it throws is a fault of ours, and no reason to keep the form closed.
    const next = await send(now, form).catch(reportError)
    if (next === null) return
    underWay.current = false
    setBusy(false)
    if (next) say(next, now)
    read()
  }

  /** What an input of the form carries: its name, what was typed into it before, and what is wrong with it. */
  const field = (name: keyof F & string) => {
    const before = kept[name]
    return {
      id: name,
      name: wireName(name),
      defaultValue: typeof before === 'string' ? before : undefined,
      error: said.flash?.field === name ? said.flash.message : null,
      blamedBy:
        aboutEmpty && said.flash?.message === aboutEmpty && isEmpty(name, said.about[name]) ? ALERT_WORDS : null,
    }
  }
  /** One button shows them all, once there is a script to do it. */
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

/** As the server nests it. */
const wireName = (name: string) => `user[${name}]`

function plainNames(values: Record<string, string> = {}): Typed {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [plainName(name), value]))
}

const plainName = (name: string) => name.replace(/^user\[(.+)\]$/, '$1')

/** What a person can type or tick, by name, as it stands. */
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

/** Spaces are something in a password only. */
function isEmpty(name: string, value: Typed[string] = ''): boolean {
  return !(/password/.test(name) ? value : String(value).trim())
}
