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

const hotReload = import.meta.env.DEV ? ['/@vite/client'] : []

export const ASSETS = {
  /** Pages with islands. */
  app: { styles: [address('src/styles/app.css')], scripts: [...hotReload, address('src/client.tsx')] },
  /** Public pages: nothing but a few lines of script until they are idle. */
  marketing: {
    styles: [address('src/styles/app.css'), address('src/styles/marketing.css')],
    scripts: [...hotReload, address('src/public.ts')],
  },
}
