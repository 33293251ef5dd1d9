import { DocFrame } from './DocFrame.tsx'
import { DOCS, type Doc as Page } from './list.ts'
import { sectionsOf } from './markdown.ts'

/** A documentation page, with links to all the others. */
export function Doc({ page, html }: { page: Page; html: string }) {
  const at = DOCS.findIndex(({ path }) => path === page.path)
  const [before, after] = [DOCS[at - 1], DOCS[at + 1]]
  return (
    <DocFrame path={page.path}>
      <details className="toc">
        <summary>On this page</summary>
        <nav aria-label="On this page">
          <ul>
            {sectionsOf(html)
              .filter(({ level }) => level === '2')
              .map(({ id, title }) => (
                <li key={id}>
                  <a href={`#${id}`}>{title}</a>
                </li>
              ))}
          </ul>
        </nav>
      </details>
      <article className="prose" dangerouslySetInnerHTML={{ __html: `<h1>${page.title}</h1>${html}` }} />
      <nav className="turn" aria-label="Pages before and after">
        {before ? (
          <a rel="prev" href={before.path}>
            Previous: {before.label}
          </a>
        ) : null}
        {after ? (
          <a rel="next" href={after.path}>
            Next: {after.label}
          </a>
        ) : null}
      </nav>
    </DocFrame>
  )
}
