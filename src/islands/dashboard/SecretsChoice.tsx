import type { DashboardView } from '../../domain/views.ts'
import { FORM } from './ByForm.tsx'

/** The secrets that the next start names: none unless an image of their own is chosen. */
export function chosenSecrets(): { secrets?: string[] } {
  if (!document.querySelector('[data-own]:checked')) return {}
  const checked = document.querySelectorAll<HTMLInputElement>('.secrets :checked')
  return { secrets: [...checked].map(({ name }) => name.slice('secrets['.length, -1)) }
}

/** Styles hide it while an environment of the catalog is chosen. */
export function SecretsChoice({ names, last }: NonNullable<DashboardView['secrets']>) {
  return (
    <details className="fold secrets" open={!!last.length}>
      <summary>Secrets</summary>
      <div className="stack">
        {names.map((name) => (
          <label key={name} className="check">
            <input type="checkbox" name={`secrets[${name}]`} form={FORM} defaultChecked={last.includes(name)} />
            <code className="address">{name}</code>
          </label>
        ))}
        <a href="/settings/developers#secrets">Manage secrets</a>
      </div>
    </details>
  )
}
