import openapiTypes, { astToString } from 'openapi-typescript'

type Document = { paths: Record<string, Record<string, { security: object[] }>> }

/**
 * Generates the types of the calls that an API token may make, from /api/openapi.json. `npm run client` writes them to
 * src/api-types.ts.
 */
export async function generateTypes(text: string): Promise<string> {
  const document = JSON.parse(text) as Document
  for (const [path, calls] of Object.entries(document.paths)) {
    for (const [method, { security }] of Object.entries(calls))
      if (!security.some((way) => 'token' in way)) delete calls[method]
    if (!Object.keys(calls).length) delete document.paths[path]
  }
  const types = await openapiTypes(JSON.stringify(document))
  return `// Generated from /api/openapi.json. To renew it: npm run client\n${astToString(types)}`
}
