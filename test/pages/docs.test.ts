import { expect, test } from 'vitest'
import { toHtml } from '../../src/pages/docs/markdown.ts'
import { fillIn } from '../../src/pages/docs/values.ts'

test('Markdown becomes the page’s HTML, with every sign as it was written', () => {
  const html = toHtml(`A < B & "C" wraps
here.

## At \`x\` {#at}

Table: Signs

| Sign | Meaning |
|---|---|
| \`a \\| b\` | [Less](#at) |

\`\`\`sh run=one
if [ "$a" < b ]; then
\`\`\`
`)
  expect(html).toContain(
    '<p class="lead">A &lt; B &amp; "C" wraps here.</p><h2 id="at"><a href="#at">At <code>x</code></a></h2>',
  )
  expect(html).toContain('<caption class="visually-hidden">Signs</caption>')
  expect(html).toContain('<th scope="row" data-label="Sign"><code>a | b</code></th>')
  expect(html).toContain('<td data-label="Meaning"><a href="#at">Less</a></td>')
  expect(html).toContain('data-run="one"><code>if [ "$a" &lt; b ]; then</code></pre>')
})

test('the build stops at a heading without an address, and at a name that nothing stands for', () => {
  expect(() => toHtml('## Ports')).toThrow('A heading has no id: Ports')
  expect(() => fillIn('{{PORTS}}', [], false)).toThrow('Nothing stands for {{PORTS}}')
})

test('only a site with private addresses gets what `door` holds', () => {
  const text = 'Use {{door}}the header{{no door}}port {{SERVER_WEB_PORT}}{{end}}: {{ secrets.TOKEN }}'
  expect(fillIn(text, [], true)).toBe('Use the header: {{ secrets.TOKEN }}')
  expect(fillIn(text, [], false)).toBe('Use port 5173: {{ secrets.TOKEN }}')
})
