import { Alert } from './Alert.tsx'

/** What the page before, or a refused form, has to say. `field` names the input that it is about. */
export type FlashMessage = {
  kind: 'success' | 'danger'
  message: string
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
