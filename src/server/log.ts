/**
 * One line of JSON for the operator. The fields name what it is about (ids of a request, a job, an invoice), never anything personal:
 * no address, no name, no parameter of a statement.
 * @param error with all its causes: the vendor's own words, code and request id among them
 */
export type Log = (event: string, fields?: LogFields, error?: unknown) => void
export type LogFields = Record<string, unknown>

export function openLog(write: (line: string) => void): Log {
  return (event, fields = {}, error) =>
    write(JSON.stringify({ event, ...fields, ...(error === undefined ? {} : { error: causesOf(error) }) }))
}

/** The Worker's one way out to the console. Verbs get theirs from their context: it knows what they work for. */
export const log = openLog((line) => console.error(line))

/** The same log, for a request, a trigger or a job: each line carries these fields, so that it leads back to what caused it. */
export function bindLog(log: Log, bound: LogFields): Log {
  return (event, fields, error) => log(event, { ...bound, ...fields }, error)
}

type Cause = { message: string; code?: string; requestId?: string; status?: number; stack?: string }

const MOST_CAUSES = 8

function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = []
  for (let e = error; e !== undefined && e !== null && causes.length < MOST_CAUSES; e = causeOf(e))
    causes.push(toCause(e))
  return causes
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

function toCause(error: unknown): Cause {
  if (!(error instanceof Error)) return { message: withoutAddresses(String(error)) }
  const { message, stack } = withoutParameters(error)
  const { code, requestId, status } = vendorDetails(error)
  return {
    message: withoutAddresses(message),
    ...(code ? { code } : {}),
    ...(requestId ? { requestId } : {}),
    ...(status ? { status } : {}),
    ...(stack ? { stack } : {}),
  }
}

/** What AWS, Stripe and libSQL tell beside their message, each in its own place. */
function vendorDetails(error: Error) {
  const of = error as Partial<{
    code: unknown
    requestId: unknown
    statusCode: unknown
    $metadata: { requestId?: unknown; httpStatusCode?: unknown }
  }>
  const isAws = of.$metadata !== undefined
  return {
    code: text(isAws ? error.name : of.code),
    requestId: text(isAws ? of.$metadata?.requestId : of.requestId),
    status: Number((isAws ? of.$metadata?.httpStatusCode : of.statusCode) ?? 0) || undefined,
  }
}

const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)

/** drizzle writes a failed statement's parameters into its message, and so into its stack: password hashes, addresses, devices. */
function withoutParameters(error: Error): { message: string; stack: string | undefined } {
  if (!('params' in error && 'query' in error)) return { message: error.message, stack: framesOf(error) }
  return { message: `Failed query: ${String(error.query)}`, stack: framesOf(error) }
}

/** Vendors quote whom a mail was for. */
function withoutAddresses(message: string): string {
  return message.replace(/[^\s<>()"'`,;:=&]{1,64}(@|%40)[^\s<>()"'`,;:=&@]{1,254}\.[\p{L}\d-]{2,}/giu, '[address]')
}

/** The stack's lines without the message in front of them. */
function framesOf(error: Error): string | undefined {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return frames.length ? frames.map((line) => line.trim()).join('\n') : undefined
}
