import type { Hit } from '../../domain/docs-search.ts'
import { DocFrame } from './DocFrame.tsx'

/** What a search in the documentation found. */
export function Found({ query, hits }: { query: string; hits: Hit[] }) {
  return (
    <DocFrame query={query}>
      <article className="prose">
        <h1>{query ? `Search: ${query}` : 'Search'}</h1>
        {hits.length ? null : (
          <p className="lead">
            {query ? 'Nothing matches. Try fewer or other words.' : 'Type what you are looking for.'}
          </p>
        )}
        <ol className="hits">
          {hits.map(({ address, page, title, excerpt: [before, word, after] }) => (
            <li key={address}>
              <a href={address}>{title}</a> <span className="muted">{page}</span>
              <p>
                {before}
                <b>{word}</b>
                {after}
              </p>
            </li>
          ))}
        </ol>
      </article>
    </DocFrame>
  )
}
