import { ActForm } from './ActForm.tsx'
import type { Acting } from './AdminPage.tsx'

/** On the page of a person and of their run. */
export function ForceStop({ runId, acting }: { runId: string; acting: Acting }) {
  return (
    <ActForm
      id="stop"
      action={`/admin/runs/${runId}/stop`}
      acting={acting}
      title="Force stop…"
      text="Stops their server now. They pay nothing more, lose what's on its disk, and get an email."
      button="Force stop"
    />
  )
}
