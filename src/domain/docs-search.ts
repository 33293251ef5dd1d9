import MiniSearch from 'minisearch'

/** The text below one heading of the documentation. */
export type Section = { address: string; page: string; title: string; text: string; code: string }
export type Hit = Pick<Section, 'address' | 'page' | 'title'> & {
  /** Where its text first contains a word of the query; that word is the second part. */
  excerpt: [before: string, word: string, after: string]
}

const OPTIONS = {
  idField: 'address',
  fields: ['title', 'page', 'text', 'code'],
  storeFields: ['page', 'title', 'text'],
}

/** The build writes the index, so that neither a browser nor the Worker needs to. */
export function writeIndex(sections: Section[]): string {
  const index = new MiniSearch<Section>(OPTIONS)
  index.addAll(sections)
  return JSON.stringify(index)
}

/** @returns finds the best sections first: those with all words, or else those with some. The last word may be unfinished. */
export function openIndex(written: string): (words: string) => Hit[] {
  const index = MiniSearch.loadJSON<Section>(written, OPTIONS)
  return (words) => {
    const find = (combineWith: 'AND' | 'OR') =>
      index.search(words, {
        combineWith,
        boost: { title: 4, page: 2 },
        prefix: (_, i, terms) => i === terms.length - 1,
        fuzzy: (term) => term.length > 4 && 1,
      })
    const all = find('AND')
    return (all.length ? all : find('OR'))
      .slice(0, 20)
      .map(({ id, page, title, text, terms }) => ({ address: id, page, title, excerpt: excerptOf(text, terms) }))
  }
}

/** The index splits texts in the same way. */
const WORD = /[^\s\p{P}]+/gu

function excerptOf(text: string, terms: string[]): Hit['excerpt'] {
  const found = [...text.matchAll(WORD)].find(([word]) => terms.includes(word.toLowerCase()))
  const at = found?.index ?? 0
  const length = found?.[0].length ?? 0
  const from = text.lastIndexOf(' ', Math.max(0, at - 40)) + 1
  const end = text.indexOf(' ', at + length + 90)
  const cut = end === -1 ? text.length : end
  return [
    (from ? '…' : '') + text.slice(from, at),
    text.slice(at, at + length),
    text.slice(at + length, cut) + (cut < text.length ? '…' : ''),
  ]
}
