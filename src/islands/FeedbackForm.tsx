import { Button } from '../ui/Button.tsx'
import { TextArea } from '../ui/Field.tsx'
import { FlashAlert } from '../ui/FlashAlert.tsx'
import { watchEdits } from './edits.ts'
import { useForm } from './useForm.ts'

const WAIT_MS = 450

/** Sends nothing to the server: the specification says so. */
export function FeedbackForm() {
  const { form, typed, busy, said } = useForm<{ message: string }>({
    guard: watchEdits,
    async send(_, element) {
      await new Promise((passed) => setTimeout(passed, WAIT_MS))
      element.reset()
      return { kind: 'success', message: 'Thanks! We received your feedback.' }
    },
  })

  return (
    <>
      <FlashAlert key={said.nth} flash={said.flash} />
      <form {...form} className="stack">
        <TextArea id="feedback" name="message" label="What could we do better?" rows={4} dir="auto" />
        <Button type="submit" disabled={busy || !typed.message?.trim()}>
          Send feedback
        </Button>
      </form>
    </>
  )
}
