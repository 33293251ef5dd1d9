// @vitest-environment happy-dom
import { act } from 'react'
import { renderToString } from 'react-dom/server'
import * as v from 'valibot'
import { afterEach, expect, test } from 'vitest'
import { useForm } from '../../src/islands/useForm.ts'
import { Checkbox, Field, PasswordField } from '../../src/ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../../src/ui/FlashAlert.tsx'
import { mount, reportError } from '../../testing/browser/hooks.ts'

const ALL = 'Fill in both.'
const NO_TERMS = 'Accept them.'
const rules = v.pipe(
  v.object({ name: v.string(), password: v.string(), terms: v.boolean() }),
  v.check((f) => Boolean(f.name.trim() && f.password), ALL),
  v.forward(
    v.check((f) => f.name !== 'nobody', 'Not this name.'),
    ['name'],
  ),
  v.forward(
    v.check((f) => f.terms, NO_TERMS),
    ['terms'],
  ),
)

type Given = { flash?: FlashMessage; focusField?: boolean }
type Sent = { typed: unknown; end: (next: FlashMessage | null) => Promise<void>; fail: () => Promise<void> }

/** Every submission, for the test to answer. */
let sent: Sent[] = []

function Form({ flash, focusField }: Given) {
  const { form, field, password, typed, busy, hydrated, said } = useForm({
    rules,
    flash: flash ?? null,
    allRequired: true,
    ...(focusField && { focusField }),
    send: (typed) =>
      new Promise<FlashMessage | null>((resolve, reject) => {
        const settle = (how: () => void) => act(async () => how())
        sent.push({
          typed,
          end: (next) => settle(() => resolve(next)),
          fail: () => settle(() => reject(new Error('a bug of ours'))),
        })
      }),
  })
  const terms = field('terms')
  return (
    <>
      {focusField ? null : <FlashAlert key={said.nth} flash={said.flash} id="refusal" />}
      <form {...form} method="post" action="/people">
        <input type="hidden" name="authenticity_token" value="token" />
        <input name="email" value="ada@example.com" readOnly />
        <Field {...field('name')} label="Name" />
        <PasswordField {...password('password')} label="Password" autoComplete="new-password" />
        <Checkbox id="terms" name={terms.name} value="1" error={terms.error} label="Terms" />
        <button type="submit" disabled={busy}>
          Send
        </button>
        <output>{`${hydrated} ${JSON.stringify(typed)}`}</output>
      </form>
    </>
  )
}

async function open(given: Given = {}, html?: HTMLElement) {
  const { element, unmount } = await mount(<Form {...given} />, html)
  const input = (id: string) => element.querySelector(`#${id}`) as HTMLInputElement
  const type = (id: string, value: string) =>
    act(async () => {
      input(id).value = value
      input(id).dispatchEvent(new Event('input', { bubbles: true }))
    })
  const tick = () =>
    act(async () => {
      input('terms').checked = true
      input('terms').dispatchEvent(new Event('input', { bubbles: true }))
    })
  const event = () => new Event('submit', { bubbles: true, cancelable: true })
  const submit = (...events: Event[]) =>
    act(async () => {
      for (const submitted of events.length ? events : [event()])
        element.querySelector('form[action]')?.dispatchEvent(submitted)
    })
  return {
    input,
    type,
    tick,
    event,
    submit,
    unmount,
    fill: async () => {
      await type('name', 'Ada')
      await type('password', 'a good one')
      await tick()
    },
    said: () => element.querySelector('[role=alert], [role=status]')?.textContent ?? null,
    alert: () => element.querySelector('.alert'),
    busy: () => (element.querySelector('form[action] > button') as HTMLButtonElement).disabled,
    output: () => element.querySelector('output')?.textContent,
    wrong: () => [...element.querySelectorAll('[aria-invalid=true]')].map(({ id }) => id),
    describedBy: (id: string) =>
      (input(id).getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((words) => element.querySelector(`#${words}`)?.textContent)
        .join(),
  }
}

const only = () => {
  expect(sent.length).toBe(1)
  return sent[0] as Sent
}

afterEach(() => {
  sent = []
})

test('notices what a password manager fills in, even if it tells only of a change', async () => {
  const form = await open()
  await act(async () => {
    form.input('name').value = 'Ada'
    form.input('name').dispatchEvent(new Event('change', { bubbles: true }))
  })
  expect(form.output()).toContain('"name":"Ada"')
  await form.unmount()
})

test('sends what was typed and ticked, under the plain names, and nothing that people cannot change', async () => {
  const form = await open()
  await form.fill()
  const submitted = form.event()
  await form.submit(submitted)
  expect(submitted.defaultPrevented).toBe(true)
  expect(only().typed).toEqual({ name: 'Ada', password: 'a good one', terms: true })
})

test('follows the typing', async () => {
  const form = await open()
  expect(form.output()).toBe('true {"name":"","password":"","terms":false}')
  await form.type('name', 'Ada')
  await form.tick()
  expect(form.output()).toBe('true {"name":"Ada","password":"","terms":true}')
})

test('shows the first broken rule, marks only its field, which repeats it, and sends nothing', async () => {
  const form = await open()
  await form.type('name', 'nobody')
  await form.type('password', 'a good one')
  await form.submit()
  expect(form.said()).toBe('Not this name.')
  expect(document.activeElement).toBe(form.alert())
  expect(form.wrong()).toEqual(['name'])
  expect(form.describedBy('name')).toBe('Not this name.')
  expect(form.input('name').value).toBe('nobody')
  expect(form.busy()).toBe(false)
  await form.type('name', 'Ada')
  await form.submit()
  expect(form.wrong()).toEqual(['terms'])
  expect(form.said()).toBe(NO_TERMS)
  expect(sent).toEqual([])
})

test('the sentence about all fields marks the empty ones; a space counts only in a password', async () => {
  const form = await open()
  await form.submit()
  expect(form.wrong()).toEqual(['name', 'password'])
  expect(form.describedBy('password')).toBe(ALL)
  await form.type('name', ' ')
  await form.type('password', ' ')
  await form.submit()
  expect(form.wrong()).toEqual(['name'])
  // As submitted, not as it is now.
  await form.type('name', 'Ada')
  expect(form.wrong()).toEqual(['name'])
})

test('a refusal for another reason marks no empty field', async () => {
  const form = await open({ flash: { kind: 'danger', code: 'too_many', message: ALL, field: null } })
  expect(form.said()).toBe(ALL)
  expect(form.wrong()).toEqual([])
})

test('announces the same fault again, even after its alert was closed', async () => {
  const form = await open()
  await form.submit()
  const before = form.alert()
  await form.submit()
  expect(form.said()).toBe(ALL)
  expect(form.alert()).not.toBe(before)
})

test('a form that shows its faults only beside the field focuses it each time', async () => {
  const form = await open({ focusField: true })
  await form.type('name', 'nobody')
  await form.type('password', 'a good one')
  for (let time = 0; time < 2; time++) {
    await form.submit()
    expect(document.activeElement).toBe(form.input('name'))
    form.input('name').blur()
  }
})

test('is busy while sending, and sends once however often it is submitted', async () => {
  const form = await open()
  await form.fill()
  await form.submit(form.event(), form.event())
  await form.submit()
  expect(form.busy()).toBe(true)
  await only().end({ kind: 'danger', message: 'Not now.' })
  expect(form.busy()).toBe(false)
  await form.submit()
  expect(sent.length).toBe(2)
})

test("reports a server's refusal or a lost connection; typed text stays and can be sent again", async () => {
  const form = await open()
  await form.fill()
  await form.submit()
  await only().end({ kind: 'danger', message: 'Network error' })
  expect(form.said()).toBe('Network error')
  expect(document.activeElement).toBe(form.alert())
  expect(form.wrong()).toEqual([])
  expect(form.input('password').value).toBe('a good one')
  expect(form.busy()).toBe(false)
})

test('marks the field in which the server finds a fault', async () => {
  const form = await open()
  await form.fill()
  await form.submit()
  await only().end({ kind: 'danger', message: 'Taken.', field: 'name' })
  expect(form.wrong()).toEqual(['name'])
})

test('reports a success in place of the previous fault', async () => {
  const form = await open()
  await form.submit()
  await form.fill()
  await form.submit()
  form.input('password').value = ''
  await only().end({ kind: 'success', message: 'Saved.' })
  expect(form.said()).toBe('Saved.')
  expect(form.alert()?.className).toContain('alert-success')
  expect(form.wrong()).toEqual([])
  // Emptied by whatever sent it, and noticed without a key press.
  expect(form.output()).toContain('"password":""')
})

test('stays busy while the page is being left', async () => {
  const form = await open()
  await form.fill()
  await form.submit()
  await only().end(null)
  expect(form.busy()).toBe(true)
  await form.submit()
  expect(form.said()).toBe(null)
  expect(sent.length).toBe(1)
})

test('a bug while sending does not lock the form', async () => {
  const form = await open()
  await form.fill()
  await form.submit()
  await only().fail()
  expect(form.busy()).toBe(false)
  expect(reportError).toHaveBeenCalledTimes(1)
})

test("the server’s HTML matches React's, and text typed earlier is kept and known", async () => {
  const html = document.createElement('div')
  html.innerHTML = renderToString(<Form />)
  expect(html.querySelector('output')?.textContent).toBe('false {}')
  // Without a script, no button to show the password.
  expect(html.querySelectorAll('button').length).toBe(1)
  ;(html.querySelector('#name') as HTMLInputElement).value = 'Ada'
  ;(html.querySelector('#terms') as HTMLInputElement).checked = true
  const form = await open({}, html)
  expect(form.input('name').value).toBe('Ada')
  expect(form.output()).toBe('true {"name":"Ada","password":"","terms":true}')
})

test('a refused plain form is filled in again, and marked as on the page itself', async () => {
  const values = { 'user[name]': 'nobody' }
  const flash: FlashMessage = { kind: 'danger', message: 'Not this name.', field: 'name', values }
  const form = await open({ flash })
  expect(form.input('name').value).toBe('nobody')
  expect(form.said()).toBe('Not this name.')
  expect(form.wrong()).toEqual(['name'])
  await form.unmount()

  const empty = await open({ flash: { kind: 'danger', code: 'invalid', message: ALL, field: null, values } })
  expect(empty.wrong()).toEqual(['password'])
})

test('one button shows the password and hides it again', async () => {
  const form = await open()
  const press = () => act(async () => (document.querySelector('[aria-pressed]') as HTMLElement).click())
  expect(form.input('password').type).toBe('password')
  await press()
  expect(form.input('password').type).toBe('text')
  await press()
  expect(form.input('password').type).toBe('password')
})
