import { Alert } from './Alert.tsx'

/** What the page before, or a refused form, has to say. `field` names the input that it is about. */
export type FlashMessage = {
  kind: 'success' | 'danger'
  message: string
  field?: string | null
  values?: Record<string, string>
}

export function FlashAlert({ flash }: { flash: FlashMessage | null }) {
  if (!flash) return null
  return (
    <Alert kind={flash.kind} dismissible takesFocus>
      {flash.message}
    </Alert>
  )
}
