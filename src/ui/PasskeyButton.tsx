import type { ReactNode } from 'react'
import { Button } from './Button.tsx'

type Props = {
  /** What our script does with it: see islands/passkeys.ts. */
  does: 'sign_in' | 'fill' | 'send'
  /** The field of the form that the answer goes to. */
  name?: string
  /** What the passkey must sign; if omitted, the script requests it. */
  options?: object | undefined
  children: ReactNode
}

/** A button that works once our script runs. It is rendered from the start, so that nothing moves. */
export function PasskeyButton({ does, name, options, children }: Props) {
  return (
    <div className="passkey" data-passkey={does} data-options={options && JSON.stringify(options)}>
      {/* Not of the type `hidden`, because an island reads the values of its form's other fields. */}
      {name ? <input name={name} autoComplete="off" hidden /> : null}
      <Button disabled>{children}</Button>
      <p className="hint" role="status" />
      <noscript>
        <p className="hint">Passkeys need JavaScript.</p>
      </noscript>
    </div>
  )
}
