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

/** The source's file and all that it imports, so that the browser can ask for them together instead of finding one in the other. */
function chain(source: string): string[] {
  if (import.meta.env.DEV || !built) return []
  const files = new Set<string>()
  const visit = (key: string) => {
    const entry = built[key]
    if (!entry || files.has(`/${entry.file}`)) return
    files.add(`/${entry.file}`)
    entry.imports?.forEach(visit)
  }
  visit(source)
  return [...files]
}

const hotReload = import.meta.env.DEV ? ['/@vite/client'] : []
const none = () => [] as string[]

/** The script of the lazy frame that every page with a script has. */
export const WAKE_SCRIPT = address('src/wake.ts')
/** That frame, for a page whose own script is this one. */
const wake = (source: string) => `/wake?${WAKE_SCRIPT}#${address(source)}`

export type PageAssets = {
  styles: string[]
  scripts: string[]
  /** The frame that loads the script of a page that shows without any (routes/wake.ts). */
  wake?: string
  /** The style sheet of the pages that come next. */
  next?: string
  /** What an island of this page needs, all to be asked for at the same time. */
  island: (name: string) => string[]
}

const publicStyles = address('src/styles/public.css')
const textPage = { styles: [publicStyles], scripts: hotReload, island: none }
const publicPage = { ...textPage, wake: wake('src/public.ts') }

export const ASSETS = {
  /** Pages of somebody who is signed in: their islands wake as soon as the page was seen. */
  app: {
    styles: [address('src/styles/app.css')],
    scripts: hotReload,
    wake: wake('src/client.tsx'),
    next: publicStyles,
    island: (name) => chain(`src/islands/${name}.tsx`),
  },
  /** Public pages: plain HTML first, their islands wake once the browser is idle or somebody begins to use them. */
  public: publicPage,
  /** Public pages whose form leads to the pages of somebody who is signed in. */
  entry: { ...publicPage, next: address('src/styles/app.css') },
  /** Public pages that are text, and nothing else. */
  text: textPage,
} satisfies Record<string, PageAssets>
