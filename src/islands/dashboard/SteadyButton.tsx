import { type ComponentProps, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../../ui/Button.tsx'

/** Gets the focus when the focused button is gone. */
export const START_ID = 'start-server'

/**
 * A button that keeps the keyboard focus when its own press disables it: until the focus leaves, it only says that it
 * is disabled. If it is removed meanwhile, the focus moves to Start.
 */
export function SteadyButton({ disabled = false, onClick, ...rest }: ComponentProps<typeof Button>) {
  const [focused, setFocused] = useState(false)
  const isFocused = useRef(false)
  const focus = (on: boolean) => {
    isFocused.current = on
    setFocused(on)
  }
  useLayoutEffect(
    () => () => {
      // The browser tells no blur for what is removed. Start may be enabled only after this.
      if (isFocused.current) setTimeout(focusStart)
    },
    [],
  )
  return (
    <Button
      {...rest}
      disabled={disabled && !focused}
      aria-disabled={disabled || undefined}
      onFocus={() => focus(true)}
      onBlur={() => focus(false)}
      onClick={(event) => (disabled ? event.preventDefault() : onClick?.(event))}
    />
  )
}

/** Or the page, if no server can start now. */
function focusStart(): void {
  for (const id of [START_ID, 'main']) {
    const element = document.getElementById(id)
    element?.focus()
    if (document.activeElement === element) return
  }
}
