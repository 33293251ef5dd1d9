type Manifest = Record<string, { file: string; css?: string[]; imports?: string[] }>

const built = Object.values(
  import.meta.glob<Manifest>('../../dist/client/manifest.json', { eager: true, import: 'default' }),
)[0]

/** Where the browser finds our files: by the build's manifest, or as Vite serves the sources. */
function address(source: string): string {
  if (import.meta.env.DEV || !built) return `/${source}`
  const entry = built[source]
  if (!entry) throw new Error(`The build has no ${source}`)
  return `/${entry.file}`
}

export const STYLES = [address('src/styles/app.css')]
/** For pages with islands. */
export const CLIENT = [...(import.meta.env.DEV ? ['/@vite/client'] : []), address('src/client.tsx')]
