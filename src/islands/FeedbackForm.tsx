import { type FormEvent, useState } from 'react'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { TextArea } from '../ui/Field.tsx'
import { useFields } from './useFields.ts'

const WAIT_MS = 450

/** Sends nothing to a server: the specification has it so. */
export function FeedbackForm() {
  const { form, fields, read } = useFields()
  const [state, setState] = useState<'writing' | 'sending' | 'sent'>('writing')
  const empty = !fields.message?.trim()

  function submit(event: FormEvent) {
    event.preventDefault()
    setState('sending')
    setTimeout(() => {
      setState('sent')
      form.current?.reset()
      read()
    }, WAIT_MS)
  }

  return (
    <>
      {state === 'sent' ? (
        <Alert kind="success" takesFocus onDismiss={() => setState('writing')}>
          Thanks! We received your feedback.
        </Alert>
      ) : null}
      <form ref={form} className="stack" onInput={read} onSubmit={submit}>
        <TextArea id="feedback" name="message" label="What should be better?" rows={4} />
        <Button type="submit" disabled={empty || state === 'sending'}>
          Send feedback
        </Button>
      </form>
    </>
  )
}
