import { route } from '../../http/route.ts'
import { readText } from '../../http/texts.tsx'

/** The API's description. The build writes it, so the Worker needn't hold what only it needs. */
export const openapi = [
  route('GET /api/openapi.json', {
    access: 'public',
    scope: 'read',
    description: [
      '200: this API as OpenAPI 3.1, made from the shapes that check requests.',
      'Answers may gain fields.',
    ],
  }).answer(async (c) =>
    c.body(await readText(c, 'openapi'), 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'public, max-age=300',
    }),
  ),
]
