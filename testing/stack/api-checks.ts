import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type Schema = { [key: string]: unknown; properties?: object; additionalProperties?: unknown }
type Content = { content: { 'application/json': { schema: Schema } } }
export type Operation = {
  operationId: string
  security: Record<string, string[]>[]
  requestBody?: Content
  responses: Record<string, Content & { 'x-codes'?: string[] }>
}
export type Document = {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> }
}

/** Also refuses fields that the document doesn't name. */
function tighten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tighten)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tighten(inner)])) as Schema
  return copy.properties && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy
}

/** The calls of an OpenAPI document, and whether an answer is as it says. */
export function checksOf(document: Document) {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
  addFormats.default(ajv)
  ajv.addVocabulary(['components', 'x-ogen-name'])
  const components = tighten(document.components)
  const operations = new Map<string, Operation>(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`, operation] as const,
      ),
    ),
  )
  const validators = new Map<object, ValidateFunction>()

  function isAsDescribed({ content }: Content, body: unknown): boolean {
    const { schema } = content['application/json']
    const validate = validators.get(schema) ?? ajv.compile({ ...(tighten(schema) as Schema), components })
    validators.set(schema, validate)
    return validate(body) as boolean
  }

  /** Null if the answer is right, or what is wrong with it. */
  function faultOf(route: string, status: number, body: unknown): string | null {
    const responses = operations.get(route)?.responses
    if (!responses) return `${route} is not in the document`
    const response = responses[status] ?? (status >= 500 ? responses.default : undefined)
    const { code } = body as { code?: string }
    const codes = response?.['x-codes'] ?? []
    if (status >= 400 && !codes.includes(code ?? ''))
      return `${route} refused with ${status} and the code ${code}, but its document names ${codes.join(', ') || 'none'} there`
    if (!response) return `${route} answers ${status}, which the document lacks`
    if (isAsDescribed(response, body)) return null
    const errors = validators.get(response.content['application/json'].schema)?.errors
    return `${route} ${status} is not as its document says: ${ajv.errorsText(errors)}`
  }

  return { operations, faultOf }
}
