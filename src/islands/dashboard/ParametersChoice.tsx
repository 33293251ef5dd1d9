import { type RunParameters, readParameters } from '../../domain/parameters.ts'
import { FORM } from './ByForm.tsx'

const NAME = 'parameters'

/** The variables that the next start gives its container. */
export function chosenParameters(): { parameters?: RunParameters } {
  const text = document.querySelector<HTMLTextAreaElement>(`[name=${NAME}]`)?.value
  return text ? { parameters: readParameters(text) } : {}
}

/** Folded away unless they used it last time. @param last those of their last start */
export function ParametersChoice({ last: text }: { last: string }) {
  return (
    <details className="fold" open={!!text}>
      <summary>Parameters</summary>
      <label className="stack">
        One per line, like SCENARIO=fog. No secrets: everyone who sees the server sees them.
        <textarea className="input mono" name={NAME} form={FORM} rows={3} defaultValue={text} spellCheck={false} />
      </label>
    </details>
  )
}
