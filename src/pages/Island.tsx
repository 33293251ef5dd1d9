import { type ComponentType, createContext, use } from 'react'
import { bootstrapJson } from './bootstrap-json.ts'

/** What the browser needs to hydrate an island. None by default. */
export const IslandFiles = createContext<(name: string) => { script: string; preload: string[] } | null>(() => null)

/**
 * A part of a page that hydrates in the browser. `name` is its file and export in `src/islands/`; its props follow it
 * as JSON.
 */
export function Island<P extends object>({
  name,
  of: Component,
  props,
}: {
  name: string
  of: ComponentType<P>
  props: P
}) {
  const files = use(IslandFiles)(name)
  return (
    <>
      {/* React moves these into the head, each once. */}
      {files ? <script type="module" async src={files.script} /> : null}
      {files?.preload.map((file) => (
        <link key={file} rel="modulepreload" href={file} fetchPriority="low" />
      ))}
      <div data-island={name}>
        <Component {...props} />
      </div>
      <script type="application/json" dangerouslySetInnerHTML={{ __html: bootstrapJson(props) }} />
    </>
  )
}
