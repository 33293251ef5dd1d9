import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { routes } from '../../src/server/app.ts'
import { withCallTable } from '../../src/server/routes/docs/openapi/call-table.ts'

test('docs/api.md has the table of calls that the routes write', () => {
  const text = readFileSync('docs/api.md', 'utf8')
  const { facts } = routes
  expect(withCallTable(text, routes) === text, 'docs/api.md is old. Run npm run types.').toBe(true)
  expect(
    withCallTable(text, { ...routes, facts: { ...facts, 'GET /zz': { access: 'public', summary: 'Z' } } }),
  ).toContain('\n| `GET /zz` | Z. | |\n\n## ')
})
