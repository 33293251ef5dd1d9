import { type ComponentProps, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../../ui/Button.tsx'

/** Gets the focus when the focused button is gone. */
export const START_ID = 'start-server'

/**
 * A button that keeps the keyboard focus when pressing it disables it: until the focus leaves, it is only announced as
 * disabled. If it is removed in the meantime, the focus moves to Start.
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
      // The browser fires no blur for a removed element.
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

/** Focuses Start, even while nothing can start: like a pressed one, it is then only announced as disabled. */
function focusStart(): void {
  const start = document.getElementById(START_ID) as HTMLButtonElement | null
  if (!start) return
  start.disabled = false
  start.focus()
}
