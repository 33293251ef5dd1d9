import { FEEDBACK_RECEIVED } from '../domain/contact.ts'
import { Button } from '../ui/Button.tsx'
import { TextArea } from '../ui/Field.tsx'
import { FlashAlert } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { watchEdits } from './edits.ts'
import { request } from './request.ts'
import { useForm } from './useForm.ts'

/** From the specification: an instant thank-you looks as if nobody had received the message. */
const AT_LEAST_MS = 450

export function FeedbackForm({ csrfToken, typed: before }: { csrfToken: string; typed: string | undefined }) {
  const { form, typed, busy, hydrated, said } = useForm<{ message: string }>({
    guard: watchEdits,
    async send(feedback, element) {
      const [reply] = await Promise.all([
        request('POST', '/api/v1/feedback', feedback),
        new Promise((passed) => setTimeout(passed, AT_LEAST_MS)),
      ])
      if (!reply.ok) return { kind: 'danger', message: reply.body.error ?? 'Please try again.' }
      element.reset()
      return { kind: 'success', message: FEEDBACK_RECEIVED }
    },
  })

  return (
    <>
      <FlashAlert key={said.nth} flash={said.flash} />
      <form {...form} className="stack" method="post" action="/api/v1/feedback">
        <HiddenFields csrfToken={csrfToken} />
        <TextArea
          id="feedback"
          name="message"
          label="What could we do better?"
          rows={4}
          dir="auto"
          defaultValue={before}
        />
        <Button type="submit" disabled={busy || (hydrated && !typed.message?.trim())}>
          Send feedback
        </Button>
      </form>
    </>
  )
}
