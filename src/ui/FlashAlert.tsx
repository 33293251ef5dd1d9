import { Alert } from './Alert.tsx'

/** Shown once, on the next page: a sentence, and what the user typed into a refused form (never a password). */
export type FlashMessage = {
  kind: 'success' | 'danger' | 'info'
  message: string
  /** The refusal's, if it is one. */
  code?: string | undefined
  /** The name of the form field that the sentence is about. */
  field?: string | null
  values?: Record<string, string>
}

/** @param id for the message, so that the fields it is about can refer to it */
export function FlashAlert({ flash, id }: { flash: FlashMessage | null; id?: string }) {
  if (!flash) return null
  return (
    <Alert kind={flash.kind} dismissible takesFocus>
      {id ? <span id={id}>{flash.message}</span> : flash.message}
    </Alert>
  )
}

/** What the user typed into a refused form's field, and what is wrong with it: the props of a Field. */
export function refusedField(flash: FlashMessage | null | undefined, name: string) {
  return { name, defaultValue: flash?.values?.[name], error: flash?.field === name ? flash.message : null }
}
