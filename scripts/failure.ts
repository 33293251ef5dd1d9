import { DrizzleQueryError } from 'drizzle-orm'
import { NoAnswer } from '../db/client.ts'

/** A vendor's own words on one line. libSQL and fetch hide them in the innermost cause. */
export function words(error: unknown): string {
  const { name = '', message = String(error) } = innermost(error) as Error
  return `${name === 'Error' ? '' : `${name}: `}${message}`.replace(/\s+/g, ' ').slice(0, 300)
}

/** What failed, in the vendor's own words, and what to change. Our own sentences say both already. */
export function sentenceOf(error: unknown): string {
  if (isOfDatabase(error)) return databaseSentence(error)
  if (isOfAws(error)) return `AWS refuses (${words(error)}). ${awsRemedy(error)}`
  if (isOfStripe(error)) return stripeSentence(error)
  if (isOfDns(error))
    return `No name server answers (${words(error)}). Check DOCTOR_DNS if it's set, and this machine's network.`
  // Only fetch gives a TypeError a cause.
  if (error instanceof TypeError && error.cause instanceof Error)
    return `A server doesn't answer (${words(error)}). Check the address in the settings, and this machine's network.`
  if (!(error instanceof Error)) return words(error)
  const isOurs = error.constructor.name === 'AppError' || (error.constructor === Error && !('code' in error))
  return isOurs ? [error.message, ...causesOf(error).map(words)].join(' ') : `This failed: ${words(error)}.`
}

/** Completes a check of the database. */
export function databaseSentence(error: unknown): string {
  const said = words(error)
  if (/\b40[13]\b|unauthorized|JWT/i.test(said))
    return `The database refuses the token (${said}). Set LIBSQL_AUTH_TOKEN to one that belongs to LIBSQL_URL: "turso db tokens create <database>". (After "tokens invalidate", each database in its group needs a new one.)`
  if (/\b404\b|ENOTFOUND/.test(said))
    return `There is no database at LIBSQL_URL (${said}). Correct LIBSQL_URL: "turso db show <database> --url".`
  if (/no such (table|column)/.test(said))
    return `The database lacks migrations (${said}). Run "npm run db:migrate" first.`
  return `The database doesn't answer, or refused (${said}). Check LIBSQL_URL and LIBSQL_AUTH_TOKEN.`
}

function stripeSentence(error: unknown): string {
  const said = words(error)
  const { type } = error as { type: string }
  if (type === 'StripeConnectionError') return `Stripe doesn't answer (${said}). Check this machine's network.`
  if (type === 'StripePermissionError')
    return `STRIPE_SECRET_KEY lacks a right (${said}). docs/operations.md, "Is it healthy?", lists what it needs.`
  return `Stripe refuses (${said}). Set STRIPE_SECRET_KEY to a key from Stripe's dashboard, Developers, API keys.`
}

/** What to change so that AWS agrees. */
export function awsRemedy(error: unknown): string {
  const { name } = innermost(error) as Error
  if (/ENOTFOUND|EAI_AGAIN/.test(words(error)))
    return "AWS_REGION may name no region of AWS. Correct it, or check this machine's network."
  if (/ExpiredToken|CredentialsProvider|TokenProvider/.test(name))
    return 'Sign in to AWS again: "aws sso login" or "aws configure".'
  if (/AuthFailure|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClient/.test(name))
    return 'Check AWS_REGION, AWS_ACCESS_KEY_ID, and AWS_SECRET_ACCESS_KEY.'
  if (/AccessDenied|Unauthorized/.test(name)) return 'Deploy infra/account.yaml: it gives the key what it needs.'
  if (/InvalidInstanceType/.test(name))
    return 'The type may be mistyped, or AWS_REGION: not every region has every type.'
  return 'Check AWS_REGION and the access key.'
}

const isOfDatabase = (error: unknown) =>
  error instanceof DrizzleQueryError ||
  error instanceof NoAnswer ||
  (error instanceof Error && [error, ...causesOf(error)].some(({ name }) => name === 'LibsqlError'))

const isOfAws = (error: unknown) =>
  error instanceof Error && ('$metadata' in error || /CredentialsProviderError|TokenProviderError/.test(error.name))

const isOfStripe = (error: unknown) =>
  error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe')

const isOfDns = (error: unknown) =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('query')

function innermost(error: unknown): unknown {
  return error instanceof Error ? (causesOf(error).at(-1) ?? error) : error
}

function causesOf(error: Error): Error[] {
  return error.cause instanceof Error ? [error.cause, ...causesOf(error.cause)] : []
}
