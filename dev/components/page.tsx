import { renderToStaticMarkup } from 'react-dom/server'
import { Layout } from '../../src/pages/Layout.tsx'
import { DASHBOARD } from './dashboard.tsx'
import { DATA } from './data.tsx'
import { FIELDS } from './fields.tsx'
import { PAGES } from './pages.tsx'
import { PARTS } from './parts.tsx'
import { RUN } from './run.tsx'
import type { Specimen } from './specimen.ts'

type Look = {
  theme: 'light' | 'dark' | 'system'
  /** Whose frame to show, because menus and sidebar differ. */
  as: 'visitor' | 'user' | 'admin'
  styles: string[]
  origin: string
}

const THEMES = ['light', 'dark', 'system'] as const
const FRAMES = ['visitor', 'user', 'admin'] as const
const ADA = { id: 'user_ada', name: 'Ada Lovelace', email: 'ada@example.com' }

/** Every component in every state, rendered with the real components and the deployed style sheets. Nothing is interactive. */
export function componentsPage({ theme, as, styles, origin }: Look): string {
  const here = (change: Partial<Look>) => `/dev/components?${new URLSearchParams({ theme, as, ...change } as never)}`
  return `<!doctype html>${renderToStaticMarkup(
    <Layout
      user={as === 'visitor' ? null : { ...ADA, admin: as === 'admin' }}
      path="/dev/components"
      title="Components"
      origin={origin}
      csrfToken={null}
      theme={theme}
      assets={{ styles, scripts: [] }}
      hasFiles
      noIndex
    >
      <div className="page stack">
        <header className="page-head">
          <h1>Components</h1>
          <nav className="row" aria-label="View options">
            {THEMES.map((value) => (
              <a key={value} href={here({ theme: value })} aria-current={value === theme ? 'true' : undefined}>
                {value}
              </a>
            ))}
            {FRAMES.map((value) => (
              <a key={value} href={here({ as: value })} aria-current={value === as ? 'true' : undefined}>
                as {value}
              </a>
            ))}
            <a href="/dev/components/phone">on a phone</a>
          </nav>
        </header>
        {[...PARTS, ...DATA, ...FIELDS, ...RUN, ...DASHBOARD, ...PAGES].map((specimen) => (
          <Shown key={specimen.name} {...specimen} />
        ))}
      </div>
    </Layout>,
  )}`
}

function Shown({ name, file, states }: Specimen) {
  return (
    <section id={name} data-component={name} data-file={file} aria-labelledby={`of-${name}`} className="stack">
      <hr />
      <div className="page-head">
        <h2 id={`of-${name}`}>{name}</h2>
        <code>{file}</code>
      </div>
      {Object.entries(states).map(([label, shown], i) => (
        <div key={label} className="stack" data-state={label}>
          <p className="hint">{label}</p>
          <div dangerouslySetInnerHTML={{ __html: withOwnIds(renderToStaticMarkup(shown), `${name}-${i}-`) }} />
        </div>
      ))}
    </section>
  )
}

/** The page repeats each component, so its ids and references get a prefix. None takes the focus. */
function withOwnIds(html: string, prefix: string): string {
  return html
    .replaceAll(' autofocus=""', '')
    .replace(
      /\s(id|for|form|aria-labelledby|aria-describedby|popovertarget)="([^"]+)"/gi,
      (_, attribute, ids: string) => ` ${attribute}="${ids.replace(/\S+/g, `${prefix}$&`)}"`,
    )
}
