import { bytesOf } from './run-log.ts'

const MOST_WORDS = 64
const MOST_BYTES = 8_192

/** Why a container can't be started with these words in place of its image's CMD; null if it can. */
export function commandFault(command: readonly string[]): string | null {
  if (!command.length) return "The command needs at least one word. Leave it out to run the image's own."
  if (command.length > MOST_WORDS) return `A command has at most ${MOST_WORDS} words.`
  if (command.some((word) => word.includes('\0'))) return "A command can't contain a NUL."
  const bytes = command.reduce((sum, word) => sum + bytesOf(word), 0)
  return bytes > MOST_BYTES ? `The command takes ${bytes} bytes. The limit is ${MOST_BYTES}.` : null
}
