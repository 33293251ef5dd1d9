import openapiTypes, { astToString } from 'openapi-typescript'

type Document = { paths: Record<string, Record<string, unknown>> }

/** The types of the calls in this OpenAPI document that an API token may make. */
export async function generateTypes(document: Document): Promise<string> {
  const { paths, ...rest } = structuredClone(document)
  for (const [path, calls] of Object.entries(paths)) {
    for (const [method, call] of Object.entries(calls))
      if (!(call as { security: object[] }).security.some((way) => 'token' in way)) delete calls[method]
    if (!Object.keys(calls).length) delete paths[path]
  }
  const types = await openapiTypes(JSON.stringify({ ...rest, paths }))
  return `// Generated from the OpenAPI document by npm run client.\n${astToString(types)}`
}
