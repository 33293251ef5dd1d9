/** The variables that a start gives its container. Everyone who sees the run sees them, so they aren't for secrets. */
export type RunParameters = Record<string, string>

const MOST = 32
const MOST_BYTES = 4_096
const NAME = /^[A-Z][A-Z0-9_]{0,63}$/
/** Docker, NVIDIA's runtime, and the loader read these; the rest are ours. */
const RESERVED = /^(PATH|HOME|ENVIRONMENT|VEHICLE|LD_.*|NVIDIA_.*|CUDA_.*|DOCKER_.*)$/

/** These make interpreters and loaders run code, or fail to start. Only the user's own images may get them. */
const OBEYED =
  /^(BASH_.*|SHELLOPTS|PS4|PYTHON(?!UNBUFFERED$).*|NODE_(?!ENV$).*|PERL.*|RUBY.*|GEM_.*|LUA_.*|JAVA_.*|JDK_.*|_JAVA_.*|CLASSPATH|DOTNET_.*|CORECLR_.*|MONO_.*|QT_.*|QML.*|GCONV_PATH|MALLOC_.*|GLIBC_TUNABLES|VK_.*|OPENSSL_.*|SSL_.*|GIO_.*|GTK_.*|GST_.*|OGRE_.*|GAZEBO_PLUGIN_PATH|GZ_SIM_SYSTEM_PLUGIN_PATH)$/

/** The first of these that only the user's own image may get. */
export const obeyedParameter = (parameters: RunParameters = {}): string | undefined =>
  Object.keys(parameters).find((name) => OBEYED.test(name))

/** Why a container can't get these variables, naming the first one; null if it can. */
export function parametersFault(parameters: RunParameters): string | null {
  const entries = Object.entries(parameters)
  if (entries.length > MOST) return `A start takes at most ${MOST} parameters.`
  for (const [name, value] of entries) {
    const fault = nameFault(name, 'parameter')
    if (fault) return fault
    // biome-ignore lint/suspicious/noControlCharactersInRegex: programs read neither NUL nor lines in a variable.
    if (/[\u0000\r\n]/.test(value)) return `The parameter ${name} contains a line break or a NUL.`
  }
  const bytes = entries.reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(value), 0)
  return bytes > MOST_BYTES ? `The parameters take ${bytes} bytes. The limit is ${MOST_BYTES}.` : null
}

/** Why no variable of a container can have this name; null if one can. */
export function nameFault(name: string, what: 'parameter' | 'secret'): string | null {
  if (NAME.test(name)) return RESERVED.test(name) ? `The ${what} ${name} is reserved. Choose another name.` : null
  const shown = JSON.stringify(name.length > 70 ? `${name.slice(0, 70)}…` : name)
  return `${shown} can't be a ${what}'s name. Use up to 64 capital letters, digits, and underscores, beginning with a letter.`
}

/** `NAME=value`, one per line, as forms and the GitHub Action take them. A line without `=` is a name without a value. */
export function readParameters(text: string): RunParameters {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(lines.map((line) => readParameter(line)))
}

export function readParameter(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1)]
}

/** The same lines, to show and to send again. */
export const writeParameters = (parameters: RunParameters): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

export const bytesOf = (text: string) => new TextEncoder().encode(text).length
