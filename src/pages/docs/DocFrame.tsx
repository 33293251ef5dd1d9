import type { ReactNode } from 'react'
import { DOCS } from './list.ts'

/** The search, and all pages, beside what `children` shows. A script adds suggestions to the search. */
export function DocFrame({ path, query, children }: { path?: string; query?: string; children: ReactNode }) {
  return (
    <div className="page">
      <div className="docs">
        <nav aria-label="Documentation">
          <search>
            <form action="/docs/search">
              <input
                className="input"
                name="q"
                aria-label="Search the documentation"
                placeholder="Search"
                defaultValue={query}
                autoComplete="off"
                enterKeyHint="search"
              />
            </form>
          </search>
          <ul className="links">
            {DOCS.map((doc) => (
              <li key={doc.path}>
                <a href={doc.path} aria-current={doc.path === path ? 'page' : undefined}>
                  {doc.label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {children}
      </div>
    </div>
  )
}
