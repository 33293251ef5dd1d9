import { Alert } from './Alert.tsx'

/** What the next page shows once: a sentence, and what was typed into a form that was refused (never a password). */
export type FlashMessage = {
  kind: 'success' | 'danger'
  message: string
  /** The field that the sentence is about, by its name in the form. */
  field?: string | null
  values?: Record<string, string>
}

/** @param id of its words, for the fields that they are about */
export function FlashAlert({ flash, id }: { flash: FlashMessage | null; id?: string }) {
  if (!flash) return null
  return (
    <Alert kind={flash.kind} dismissible takesFocus>
      {id ? <span id={id}>{flash.message}</span> : flash.message}
    </Alert>
  )
}
