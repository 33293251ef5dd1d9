import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { PlainForms } from '../../../src/islands/files/PlainForms.tsx'

test.each(['delete', 'rename'] as const)('without script, the question to %s keeps its words in order', (act) => {
  const html = (name: string) => renderToStaticMarkup(<PlainForms question={{ act, name }} path="" csrfToken="t" />)
  expect(html('رحلة 1.csv')).toContain('\u2068رحلة 1.csv\u2069')
  expect(html('flight 1.csv')).not.toContain('\u2068')
})
