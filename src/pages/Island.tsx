import type { ComponentType } from 'react'

/** A part of a page that comes alive in the browser: `name` is its file and export in `src/islands/`, the props travel as JSON. */
export function Island<P extends object>({
  name,
  of: Component,
  props,
}: {
  name: string
  of: ComponentType<P>
  props: P
}) {
  return (
    <div data-island={name} data-props={JSON.stringify(props)}>
      <Component {...props} />
    </div>
  )
}
