import { type ComponentType, createContext, use } from 'react'
import { bootstrapJson } from './bootstrap-json.ts'

/** The files that an island of this page needs, which the page announces (src/wake.ts); by itself a page has none. */
export const IslandFiles = createContext<(name: string) => string[]>(() => [])

/** A part of a page that comes alive in the browser: `name` is its file and export in `src/islands/`, the props travel as JSON, right behind it. */
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
    <>
      {use(IslandFiles)(name).map((file) => (
        <link key={file} rel="late" href={file} />
      ))}
      <div data-island={name}>
        <Component {...props} />
      </div>
      <script type="application/json" dangerouslySetInnerHTML={{ __html: bootstrapJson(props) }} />
    </>
  )
}
