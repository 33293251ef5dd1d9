import type { SQL } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { ZodMiniType } from 'zod/mini'
import type { TokenScope } from '../../domain/api-token.ts'
import type { AppError, RefusalCode } from '../../domain/error.ts'
import type { Reads } from '../accounts/live-sign-ins.ts'
import type { Context } from '../runtime/context.ts'

/** What we know about a route before its handler runs. */
export type RouteFacts = {
  /** `guest`: only people who are not signed in. */
  access: 'public' | 'guest' | 'user' | 'admin'
  /** A page redirects people to where they may be and fails as a page. Anything else is a call and answers with JSON. */
  kind?: 'page'
  /** A download, not a screen: signing in doesn't lead back to it. */
  file?: true
  /** The scope that an API token needs here. Without it, no token may call this. */
  scope?: TokenScope
  /** `listed` in the sitemap, or just `open` to search engines, which we keep out of all other pages. */
  search?: 'listed' | 'open'
  /**
   * A browser may prefetch the page when the pointer rests on its link (`hover`, for pages that rarely
   * change) or presses it (`press`, for personal pages). Not the dashboard and the console: they count
   * seconds from when they were rendered.
   */
  ahead?: 'hover' | 'press'
  /** Reads about the user that share the sign-in's round trip. The handler gets what they found. */
  reads?: (ctx: Context, userId: SQL) => Reads
  /**
   * The page with this call's plain HTML form, and the page after success (the dashboard by default). `back`: return to
   * the page it came from instead. `keeps`: a field that goes into that page's address. An `:id` is the call's own.
   */
  form?: { at: string; done: string; back?: true; keeps?: { query: string; field: string } }
  /** The body: JSON, or a plain form's fields. */
  takes?: ZodMiniType
  /** No body at all counts as an empty object. */
  mayBeEmpty?: true
  /** Its body can't come from a form. */
  onlyJson?: true
  /** Its plain form carries a file, beside its fields. */
  takesFile?: true
  /** An act in the console: the admin must have confirmed who they are in the last minutes. */
  recentPassword?: true
  /** Admins may use it however long ago they confirmed who they are. */
  withoutProof?: true
  /** Admins may use it before they have a second factor. */
  withoutFactor?: true
  /** Whether the call needs the page's token. By default, forms do and JSON doesn't. */
  token?: 'always' | 'never'
  /** The answer carries a token, for a page that isn't reloaded. */
  givesToken?: true
  /** It acts for no particular person, so an older page may send it even if someone else has signed in since. */
  forAnyone?: true
  /** Programs send it, without a cookie and without proof of origin. Other sites' pages may not. */
  fromPrograms?: true
  /**
   * Its handler counts it against the outer limit, by what its body proves. What doesn't look like a machine's counts
   * for its address first.
   */
  countsCaller?: true
  /** Its handler checks a bearer token that isn't an API token. */
  ownToken?: true
  /** Stripe signs it: none of our pages sends it, and its bursts are not rate limited. */
  signedBySender?: true
  /** Each call is a connection that a program makes, often many at once: they don't count as API calls. */
  connections?: true
  /** Extra fields in a refusal. */
  errorFields?: (error: AppError) => Record<string, unknown>
  /** Open pages poll it, so it doesn't mean that anyone is there. */
  byItself?: true
}

/** What it means, and its schema; without one, any text. */
type Parameter = string | { description: string; schema: Record<string, unknown> }

/**
 * What programs' authors read: in the OpenAPI document, which lists the calls with a summary, and in the table of
 * docs/api.md. Texts may contain Markdown. The build leaves all of it out of the Worker: see dev/build.ts.
 */
export type RouteWords = {
  summary?: string
  /** What the summary and the shapes don't say, in sentences. Without `answers`, it begins with the status. */
  description?: string | readonly string[]
  /** The status of success, and the shape of its answer. */
  answers?: [status: 200 | 201 | 202, shape: ZodMiniType]
  /** It answers the same while the work is under way. */
  later?: 202
  /** The codes of refusals that are specific to this call. */
  refuses?: readonly RefusalCode[]
  /** When it refuses, by status, where the codes don't say it. */
  when?: Partial<Record<number, string>>
  query?: Record<string, Parameter>
  /** Takes an Idempotency-Key. */
  repeatable?: true
}

/** What a route's reads found. */
export type Found<F> = F extends { reads: (...args: never[]) => infer R extends Reads } ? BatchResponse<R> : readonly []

export type RouteTable = ReturnType<typeof tableOf>

/** Every route by its method and path, in the order of the site. */
export function tableOf(routes: readonly { at: string; facts: RouteFacts & RouteWords }[]) {
  const facts: Record<string, RouteFacts & RouteWords> = Object.fromEntries(routes.map((one) => [one.at, one.facts]))
  const paths = routes.map(({ at, facts }) => {
    const [method = '', path = ''] = at.split(' ')
    return { method, path, parts: path.split('/'), facts }
  })

  /** The routes at this path, whatever their methods. `/webhooks/stripe` isn't a `/webhooks/:id`. */
  function routesAt(pathname: string) {
    const given = pathname.split('/')
    const found = paths.filter(
      ({ parts }) =>
        parts.length === given.length && parts.every((part, i) => part === given[i] || (part[0] === ':' && given[i])),
    )
    const named = (parts: string[]) => parts.filter((part) => part[0] !== ':').length
    const most = Math.max(...found.map(({ parts }) => named(parts)))
    return found.filter(({ parts }) => named(parts) === most)
  }

  return {
    facts,
    /** As it is registered; undefined if it's unknown. */
    pathAt: (pathname: string) => routesAt(pathname)[0]?.path,
    /** The methods that work at this path; none if it's unknown. */
    methodsAt: (pathname: string) => routesAt(pathname).map(({ method }) => method),
    /** The page at this path, whichever route registered it; null if there is none. */
    pageAt: (pathname: string) => routesAt(pathname).find(({ facts }) => facts.kind === 'page')?.facts ?? null,
    /** The paths of all matching pages. */
    pagesWhere: (holds: (facts: RouteFacts) => boolean) =>
      paths.filter(({ facts }) => facts.kind === 'page' && holds(facts)).map(({ path }) => path),
  }
}
