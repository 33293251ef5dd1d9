type Manifest = Record<string, { file: string; imports?: string[] }>

const built = Object.values(
  import.meta.glob<Manifest>('../../../dist/client/manifest.json', { eager: true, import: 'default' }),
)[0]

/** The URL of a source file: from the build's manifest, or as Vite serves it. */
function address(source: string): string {
  if (import.meta.env.DEV || !built) return `/${source}`
  const entry = built[source]
  if (!entry) throw new Error(`The build has no ${source}`)
  return `/${entry.file}`
}

/** The source's file and all its imports, so that the browser can load them in parallel. */
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

export type PageAssets = {
  styles: string[]
  scripts: string[]
  /** The style sheet of the pages that probably come next. */
  next?: string
}

const copyScript = address('src/copy.ts')
const publicStyles = address('src/styles/public.css')
const appPage = {
  styles: [address('src/styles/app.css')],
  scripts: [...hotReload, address('src/client.tsx')],
  next: publicStyles,
}
const textPage = { styles: [publicStyles], scripts: hotReload }
const publicPage = { styles: [publicStyles], scripts: [...hotReload, address('src/public.ts')] }

/** The script that hydrates islands, and every file that it and this island import, to load in parallel. */
export function islandFiles(name: string): { script: string; preload: string[] } {
  const script = address('src/client.tsx')
  const files = [...chain('src/client.tsx'), ...chain(`src/islands/${name}.tsx`)]
  return { script, preload: [...new Set(files)].filter((file) => file !== script) }
}

/** Signed-in people have a bell on every page, even on those that otherwise need no script. */
export function withBell(page: PageAssets): PageAssets {
  const known = [...appPage.scripts, ...publicPage.scripts]
  const has = page.scripts.some((script) => known.includes(script) && !hotReload.includes(script))
  return has ? page : { ...page, scripts: [...page.scripts, ...publicPage.scripts] }
}

const settingsPage = { ...appPage, styles: [...appPage.styles, address('src/styles/settings.css')] }

export const ASSETS = {
  /** Pages for signed-in people. */
  app: appPage,
  /** Their pages about money. */
  billing: { ...appPage, styles: [...appPage.styles, address('src/styles/billing.css')] },
  /** The pages of their runs. */
  line: { ...appPage, styles: [...appPage.styles, address('src/styles/line.css')] },
  runs: { ...appPage, styles: [...appPage.styles, address('src/styles/runs.css')] },
  /** Their files. */
  files: { ...appPage, styles: [...appPage.styles, address('src/styles/files.css')] },
  /** Who may enter a server, and from where: something to copy. */
  door: { ...appPage, scripts: [...appPage.scripts, copyScript] },
  /** Their settings, and those that show something to copy. */
  settings: settingsPage,
  secrets: { ...settingsPage, scripts: [...settingsPage.scripts, copyScript] },
  /** The console. */
  admin: { ...appPage, styles: [...appPage.styles, address('src/styles/admin.css')] },
  /** Visitors' pages: plain HTML first. */
  public: publicPage,
  /** Public pages whose form leads to signed-in pages. Their island brings the script; a second one delays the paint. */
  entry: { ...textPage, next: address('src/styles/app.css') },
  status: { ...publicPage, styles: [publicStyles, address('src/styles/status.css')] },
  docs: { styles: [publicStyles, address('src/styles/docs.css')], scripts: [...hotReload, address('src/docs.ts')] },
  /** Public pages that are only text. */
  text: textPage,
} satisfies Record<string, PageAssets>
