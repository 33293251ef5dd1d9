import { type ComponentType, createContext, use } from 'react'
import { preloadModule } from 'react-dom'
import { bootstrapJson } from './bootstrap-json.ts'

/** The files that an island of this page needs at once; by itself a page has none. */
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
  for (const file of use(IslandFiles)(name)) preloadModule(file, { as: 'script' })
  return (
    <>
      <div data-island={name}>
        <Component {...props} />
      </div>
      <script type="application/json" dangerouslySetInnerHTML={{ __html: bootstrapJson(props) }} />
    </>
  )
}
