import { zValidator } from '@hono/zod-validator'
import type { Handler, Hono, Context as HonoContext, MiddlewareHandler } from 'hono'
import type { input, output, ZodMiniType } from 'zod/mini'
import { AppError } from '../../domain/error.ts'
import type { AppEnv } from './app-env.ts'
import { shapeOfForm } from './fields.ts'
import { nestFields } from './form-post.ts'
import type { Found, RouteFacts, RouteWords } from './route-table.ts'

/** A route: what we know about it beforehand, what the API's document says about it, and its handler. */
export type Route = { at: string; facts: RouteFacts & RouteWords; handlers: Handler<AppEnv>[] }

type PathOf<At> = At extends `${string} ${infer Path}` ? Path : string
type Taken<F> = F extends { takes: infer S extends ZodMiniType }
  ? { in: { json: input<S> }; out: { json: output<S> } }
  : object
type Call<At, F> = HonoContext<AppEnv, PathOf<At>, Taken<F>>

/**
 * Declares a route, all of it: nothing else says who may call it, what it takes, or what it answers.
 * @param at its method and path
 */
export function route<
  const At extends `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  const F extends RouteFacts & RouteWords,
>(at: At, facts: F) {
  const check = facts.takes ? [bodyCheck(facts.takes, facts)] : []
  return {
    /** @param by gets what the route takes as `c.req.valid('json')`, and what its reads found */
    answer(by: (c: Call<At, F>, found: Found<F>) => Response | Promise<Response>): Route {
      const last = (c: Call<At, F>) => by(c, c.var.readAlong as unknown as Found<F>)
      return { at, facts, handlers: [...check, last] as Handler<AppEnv>[] }
    },
  }
}

export function mount(app: Hono<AppEnv>, routes: readonly Route[]): Hono<AppEnv> {
  for (const { at, handlers } of routes) {
    const [method = '', path = ''] = at.split(' ')
    app.on(method, [path], ...handlers)
  }
  return app
}

/** Checks a body that arrives as JSON or from a plain HTML form (`user[email]`), where everything is a text. */
function bodyCheck(shape: ZodMiniType, { onlyJson, mayBeEmpty }: RouteFacts): MiddlewareHandler<AppEnv> {
  const json = zValidator('json', shape, (result) => {
    if (!result.success) throw refuseShape(result.error)
    if (!isWellFormed(result.data)) throw new AppError('malformed', 'The request body is not valid Unicode text.')
  }) as unknown as MiddlewareHandler<AppEnv>
  if (onlyJson) return json
  const ofForm = shapeOfForm(shape)
  return async (c, next) => {
    const form = c.get('form')
    const empty = mayBeEmpty && !form && (await c.req.text()) === ''
    if (!form && !empty) return json(c, next)
    const result = ofForm.safeParse(nestFields(form ?? []))
    if (!result.success) throw refuseShape(result.error)
    c.req.addValidatedData('json', result.data as object)
    await next()
  }
}

function refuseShape(error: { issues: readonly { path: PropertyKey[] }[] }): AppError {
  const field = error.issues[0]?.path.join('.')
  return new AppError(
    'malformed',
    field ? `The field "${field}" is missing or has the wrong type.` : 'The request body must be a JSON object.',
  )
}

/** JSON can contain lone surrogates (`\ud800`), which databases reject. A loop, because it may be nested deeper than the stack. */
function isWellFormed(data: unknown): boolean {
  const values = [data]
  for (const value of values) {
    if (typeof value === 'string' && !value.isWellFormed()) return false
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) values.push(inner)
  }
  return true
}
